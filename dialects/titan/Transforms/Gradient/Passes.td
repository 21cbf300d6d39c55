//===- Passes.td - The gradient phase -------------------------------------===//

#ifndef TITAN_TRANSFORMS_GRADIENT_PASSES_TD
#define TITAN_TRANSFORMS_GRADIENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanMarkRecomputed : Pass<"titan-mark-recomputed", "::mlir::ModuleOp"> {
  let summary = "Marks what the backward computes again instead of keeping it";
  let description = [{
    Follows the run's `recompute` (`titan.run`) in the train functions: the operations in the bodies of
    their outermost repeats get `titan.recompute`, which `--titan-differentiate` obeys and removes. A
    value so marked is computed again in the backward body of its variant, from what is kept before it.

    - `recompute = full`: all operations of all layers;
    - `recompute.every = n`: those of the layers n - 1, 2n - 1, ...;
    - `recompute.layers = [4, 8]`: those of these layers;
    - `recompute.save = ["matmul", "attention"]`: all but these, in the layers that the others name or
      else in all;
    - `recompute.blocks = ["FeedForward"]`: of what the others name, or else of all layers, only the
      operations whose `titan.blocks` has one of these; the attribute is removed.

    Where some layers of a variant are computed again and others are not, the variant becomes two. Then
    residuals of either have room for its own layers alone.

    Input, with `recompute.layers = [1]`:
    ```mlir
    %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : ... {
      %h = titan.contract %c, %wl : ...
    }
    ```

    Output:
    ```mlir
    %y = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned(%w) : ... {
      %h = titan.contract %c, %wl : ...
    }, {
      %h = titan.contract %c, %wl {titan.recompute} : ...
    }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanDifferentiate : Pass<"titan-differentiate", "::mlir::ModuleOp"> {
  let summary = "Adds the gradient of the loss with respect to every trained parameter";
  let description = [{
    Reverse-mode differentiation of every function with `titan.program = "train"`. Afterwards such a
    function returns, behind its loss and what updates buffers, one result per parameter that is
    neither `titan.frozen` nor a `titan.buffer`, in the order of the arguments, marked `titan.gradient` (and `titan.stacked` like the parameter).
    A gradient has the element type `reduce` of `titan.precision` where the function declares it, else
    its parameter's; sums of it are made in that type, also those over a repeat's iterations.
    Operations give their own gradients (DifferentiableOpInterface); a `titan.repeat` gets a backward
    `titan.repeat` in the other direction. Gradients with respect to parameters and to activations are
    separate contractions (`titan.grad_kind`). No `titan.stop_gradient` is left in the module.

    Input:
    ```mlir
    func.func @train(%x: !titan.tensor<f32[seq = 8, in = 4]> {titan.param = "x", titan.frozen},
                     %w: !titan.tensor<f32[in = 4, out = 2]> {titan.param = "w"})
        -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
      %y = titan.contract %x, %w : (...) -> !titan.tensor<f32[seq = 8, out = 2]>
      %e = titan.exp %y : <f32[seq = 8, out = 2]> -> <f32[seq = 8, out = 2]>
      %loss = titan.reduce sum %e : <f32[seq = 8, out = 2]> -> <f32[]>
      return %loss : !titan.tensor<f32[]>
    }
    ```

    Output:
    ```mlir
    func.func @train(...) -> (!titan.tensor<f32[]> {titan.output = "loss"},
        !titan.tensor<f32[in = 4, out = 2]> {titan.gradient = "w"}) attributes {titan.program = "train"} {
      %y = titan.contract %x, %w : (...) -> !titan.tensor<f32[seq = 8, out = 2]>
      %e = titan.exp %y : <f32[seq = 8, out = 2]> -> <f32[seq = 8, out = 2]>
      %loss = titan.reduce sum %e : <f32[seq = 8, out = 2]> -> <f32[]>
      %d_w = titan.contract %x, %e {titan.grad_kind = "wgrad"} : (...) -> !titan.tensor<f32[in = 4, out = 2]>
      return %loss, %d_w : !titan.tensor<f32[]>, !titan.tensor<f32[in = 4, out = 2]>
    }
    ```

    A parameter that does not reach the loss gets a gradient of zeros, and a warning.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanAccumulate : Pass<"titan-accumulate", "::mlir::ModuleOp"> {
  let summary = "Computes a step a part of the batch at a time and adds up what the parts give";
  let description = [{
    For every function with `titan.program = "train"` and `titan.accumulate = {dim = "batch", microbatches =
    4}`: what has the dimension, loss and gradients included, moves into a `titan.repeat` over the parts.
    What comes out of it are sums, carried from zero; everything that needs them complete (clipping,
    the optimizer) stands behind it. Activations take a fraction of the memory; the result is the
    same but for the order of the sums. Sharding rules say which values are cut, summed or the same
    (`BatchDependence.h`), so no operation is known here by name, and scaling by the number of parts never
    arises: the loss is that of the global program.

    A sum over inputs alone (the number of valid tokens) is computed beforehand. What a repeat computes
    from its sums and only stacks (the next values of its layers' buffers) is moved to a repeat behind the
    loop, which slices the stacked sums (`LoopDistribution.h`). An operation that needs another sum over the
    whole batch while parts are computed is an error.

    Input:
    ```mlir
    func.func @train(%x: !titan.tensor<f32[batch = 8]> {titan.input = "x"}, %w: !titan.tensor<f32[]> {...})
        -> (!titan.tensor<f32[]>, !titan.tensor<f32[]>)
        attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
      %y = titan.mul %x, %w : ...
      %loss = titan.reduce sum %y : <f32[batch = 8]> -> <f32[]>
      %d_w = titan.reduce sum %x : <f32[batch = 8]> -> <f32[]>
      return %loss, %d_w : ...
    }
    ```

    Output:
    ```mlir
    func.func @train(%x: !titan.tensor<f32[microbatches = 2, batch = 4]> {titan.input = "x"}, ...) ... {
      %d_w = titan.reduce sum %whole : <f32[batch = 8]> -> <f32[]>
      %loss = titan.repeat <microbatches = 2> iter_args(%zero) scanned(%x) : ... {
      ^bb0(%m: !titan.tensor<i64[]>, %sum: !titan.tensor<f32[]>, %part: !titan.tensor<f32[batch = 4]>):
        %y = titan.mul %part, %w : ...
        %l = titan.reduce sum %y : <f32[batch = 4]> -> <f32[]>
        %next = titan.add %sum, %l : ...
        titan.yield %next : !titan.tensor<f32[]>
      }
      return %loss, %d_w : ...
    }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanChunkLoss : Pass<"titan-chunk-loss", "::mlir::ModuleOp"> {
  let summary = "Computes the largest values, the logits, a part of the sequence at a time";
  let description = [{
    In every function with `titan.program = "train"`, what makes and reads the largest values of its
    block moves into a `titan.repeat` over parts of a dimension, so that
    logits and their gradient are never whole in memory. What enters is sliced, what each part
    gives for itself is stacked, and what all parts give together (the loss, the head's gradient) is
    a sum, carried from zero. The result is the same but for the order of the sums.

    Sharding rules say which values are cut (`Chunks.h`); no operation is known here by name.

    `titan.loss_chunks = 4` says how many parts, of the outermost dimension of the largest value that
    no parameter has, no mesh axis splits, and that has parts of equal size. If none can be cut so, that is an error,
    at the operation which stands in the way. Without it the compiler chooses: as few parts as make
    the largest value half as large on a rank as the largest sum (as large, up to 128 MiB, since products of few
    rows are slow), or 32 MiB. More would save little,
    since the sum is there anyway and each part moves it through memory. Values of 32 MiB stay whole
    (`titan.min_chunk_bytes` says how many bytes instead).

    Input:
    ```mlir
    func.func @train(%x: <f32[seq = 8, embed = 2]>, %w: <f32[embed = 2, vocab = 64]>, %one: <f32[seq = 8]>) ...
        attributes {titan.program = "train", titan.loss_chunks = 2 : i64} {
      %logits = titan.contract %x, %w : ... -> <f32[seq = 8, vocab = 64]>
      %d = titan.exp %logits : ...
      %d_w = titan.contract %x, %d : ... -> <f32[embed = 2, vocab = 64]>
      return %d_w
    }
    ```

    Output:
    ```mlir
      %xs = titan.split %x dim "seq" : ... -> <f32[seq.chunks = 2, seq = 4, embed = 2]>
      %d_w = titan.repeat <seq.chunks = 2> iter_args(%zero) scanned(%xs) : ... {
      ^bb0(%p: !titan.tensor<i64[]>, %sum: <f32[embed = 2, vocab = 64]>, %part: <f32[seq = 4, embed = 2]>):
        %logits = titan.contract %part, %w : ... -> <f32[seq = 4, vocab = 64]>
        %d = titan.exp %logits : ...
        %term = titan.contract %part, %d : ... -> <f32[embed = 2, vocab = 64]>
        %next = titan.add %sum, %term : ...
        titan.yield %next
      }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanAddOptimizer : Pass<"titan-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "Adds clipping and the optimizer's update of every parameter";
  let description = [{
    Needs the gradients as results (`--titan-differentiate`), and the name of an optimizer
    (`titan.updated_by`) on each trained parameter: a private function of parameter, gradient, states,
    learning rate and step (OptimizerFunction.h), in which the update is written.
    Behind the other arguments come, for each parameter, the optimizer's states (`titan.state`, named
    `<state>.<parameter>`, in the element type `optimizer` of `titan.precision` where that is
    declared), then the scalars `lr` and `step`.
    Behind the loss come `grad_norm` and the loss once more as `local_loss`, of which each rank may
    give its summand (`titan.unreduced`), then the gradients, then each parameter's new value and
    states, marked `titan.updates` with the number of the argument they replace.

    An elementwise update becomes one `titan.apply`; of any other the operations are inlined, with the
    dimensions of a stacked parameter's stack in every value that depends on it. The functions of
    optimizers are erased.

    With `titan.clip`, all gradients are scaled by min(1, clip / (norm + 1e-6)), where norm is the
    2-norm of all of them together, as torch.nn.utils.clip_grad_norm_ does.

    With `titan.skip_nonfinite`, a step whose loss or norm is not finite leaves parameters, states and
    buffers as they are: the scale is then not a number, and a select keeps the old values.

    Input:
    ```mlir
    func.func private @descent(%p: T {titan.operand = "parameter"}, %g: T {titan.operand = "gradient"},
                               %lr: S {titan.scalar = "lr"}) -> (T {titan.updates = 0})
        attributes {titan.optimizer} {
      %d = titan.mul %lr, %g : (S, T) -> T
      %next = titan.sub %p, %d : (T, T) -> T
      return %next : T
    }
    func.func @train(%w: T {titan.param = "w", titan.updated_by = @descent})
        -> (S {titan.output = "loss"}, T {titan.gradient = "w"}) attributes {titan.program = "train"} {
      ...
      return %loss, %d_w : S, T
    }
    ```

    Output:
    ```mlir
    titan.scalar_function @descent.update {
    ^bb0(%p: S, %g: S, %lr: S):
      %d = titan.mul %lr, %g : (S, S) -> S
      %next = titan.sub %p, %d : (S, S) -> S
      titan.yield %next : S
    }
    func.func @train(%w: T {titan.param = "w"}, %lr: S {titan.scalar = "lr"}, %step: S {titan.scalar = "step"})
        -> (S {titan.output = "loss"}, S {titan.output = "grad_norm"},
            S {titan.output = "local_loss", titan.unreduced}, T {titan.gradient = "w"},
            T {titan.updates = 0}) attributes {...} {
      ...
      %square = titan.contract %d_w, %d_w : (T, T) -> S
      %norm = titan.sqrt %square : S -> S
      %w1 = titan.apply @descent.update(%w, %d_w, %lr) : (T, T, S) -> T
      return %loss, %norm, %loss, %d_w, %w1 : S, S, S, T, T
    }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanVerifyGradientPhase : Pass<"titan-verify-gradient-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what holds after the gradient phase; changes nothing";
  let description = [{
    In every function with `titan.program = "train"`:
    - (G1) every parameter that is neither frozen nor a buffer has exactly one gradient of its
      dimensions, in the declared element type;
    - (G2) it, every buffer and every state is updated by exactly one result, of its type; a frozen
      parameter by none;
    - (G3) the results `loss` and `grad_norm` and the scalars `lr` and `step` are there.
    In the module:
    - (G4) no `titan.stop_gradient` is left.
  }];
}

#endif // TITAN_TRANSFORMS_GRADIENT_PASSES_TD
