// The passes that divide a program into stages of a pipeline.

#ifndef TITAN_DIST_STAGES_PASSES_TD
#define TITAN_DIST_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistFormFragments : Pass<"dist-form-fragments", "::mlir::ModuleOp"> {
  let summary = "outlines the fragments of programs with stages";
  let description = [{
    A training step with stages consists of a loop over microbatches whose body contains one forward and one
    reverse repeat per stage (`titan.stage`), and of the update after the loop. The pass moves every operation
    into a *fragment*: a function for one stage and one kind of work.

    | fragment | runs | contains |
    |---|---|---|
    | `@train.begin.S` | once before the microbatches | zeros for the sums of gradients and losses; sums over inputs; copies of parameters for other stages |
    | `@train.forward.S` | once per microbatch | the forward repeat of stage S and what depends on it alone |
    | `@train.backward.S` | once per microbatch | the reverse repeat of stage S and what depends on it |
    | `@train.wgrad.S` | once per microbatch | the weight gradients of stage S, if `--titan-split-wgrad` has divided its reverse repeat |
    | `@train.update.S.L` | once after the microbatches | norm, clipping and optimizer of the parameters of stage S; level L reads values of level L - 1 of other stages |

    A program without microbatches (evaluation, logits) becomes `@eval.evaluate.S.L`: the forward repeat of
    stage S and what depends on it. A program without stages stays unchanged.

    Values that cross fragments become arguments and results with a role:
    - `titan.stash`: one value per microbatch, from a forward or backward fragment to a later one.
    - `titan.step_value`: one value per step: sums over microbatches, values of `begin` and `update`.
    - `titan.scalar = "microbatch"`: the number of the microbatch.

    `titan.microbatch` marks inputs of which a fragment reads the slot of its microbatch. Fragments that
    run once per step read whole inputs.

    Operations on inputs, constants and scalars, and the collectives and casts that make a stored parameter
    usable, are cloned into every fragment that uses them, so that no rank waits for them. A parameter of
    several stages is stored at the first of these; the others receive a copy per step, and the sum of its
    gradient gathers one term per stage.

    The function of the program remains as a declaration: the arguments and results of a step, and in
    `dist.fragments` its fragments in an order that is valid on one process.

    Input:
    ```mlir
    func.func @train(%tokens: T, %w0: P, %w1: P) -> (...) attributes {titan.program = "train"} {
      %sums:2 = titan.repeat <microbatches = 4> iter_args(%zero0, %zero1) scanned(%tokens) ... {
        %x = titan.repeat <layers.2 = 2 of layers> ... {titan.stage = 0}
        %y = titan.repeat <layers.2 = 2 of layers> ... {titan.stage = 1}
        ...
    ```

    Output:
    ```mlir
    func.func private @train(T, P, P) -> (...) attributes {dist.fragments = [@train.begin.0, @train.begin.1, @train.forward.0, @train.forward.1, ...]}
    func.func @train.forward.0(%tokens: Slot {titan.input = "tokens", titan.microbatch}, %w0: P {titan.param = "w"})
        -> (X {titan.stash = "x"}) attributes {dist.fragment = #dist.fragment<kind = forward, stage = 0>}
    ```

    The pass works on the module, because it adds functions.
  }];
  let statistics = [
    Statistic<"fragments", "fragments", "Fragments of all programs">,
    Statistic<"stashedValues", "stashed values", "Values that are kept for each microbatch">,
    Statistic<"stepValues", "step values", "Values that are kept for a step">
  ];
}

#endif // TITAN_DIST_STAGES_PASSES_TD
