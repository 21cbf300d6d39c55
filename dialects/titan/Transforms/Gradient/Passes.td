// Passes of the gradient phase.

#ifndef TITAN_TRANSFORMS_GRADIENT_PASSES_TD
#define TITAN_TRANSFORMS_GRADIENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanMarkRecomputed : Pass<"titan-mark-recomputed", "::mlir::func::FuncOp"> {
  let summary = "Marks the operations that the backward pass recomputes";
  let description = [{
    The operations to recompute in the bodies of the outermost repeats of a train function get
    `titan.recompute`. `--titan-differentiate` reads and removes the mark: the backward body of the variant
    evaluates a marked operation again, from values that the forward stacks. The phase pipeline sets the
    options from the run's `recompute` settings.

    - `all`: all operations of all layers;
    - `every=n`: those of the layers n - 1, 2n - 1, ...;
    - `layers=4,8`: those of these layers;
    - `save=matmul,attention`: all but these, in the layers that the options above select, or in all
      layers;
    - `blocks=FeedForward`: of the operations that the options above select, or of all, those whose
      `titan.blocks` contains one of these. The attribute `titan.blocks` is removed.

    If only some layers of a variant are recomputed, the variant becomes two. The residuals of each then
    have slots for its own layers only.

    Input, with `layers=1`:
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
  let options = [
    Option<"all", "all", "bool", "false", "Recompute all operations of the selected layers">,
    Option<"every", "every", "int64_t", "0", "Recompute every n-th layer; 0: the other options decide">,
    ListOption<"layers", "layers", "int64_t", "Layers to recompute, counted from 0; none: the other options decide">,
    ListOption<"save", "save", "std::string", "Operations whose results are saved; the rest is recomputed">,
    ListOption<"blocks", "blocks", "std::string", "Recompute only the calls of these blocks; none: the other options decide">
  ];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanSplitTurns : Pass<"titan-split-turns", "::mlir::ModuleOp"> {
  let summary = "Makes a train program for each loss and each set of parameters that a step updates together";
  let description = [{
    A trained parameter may state the losses that it minimises (`titan.losses`: their sum; absent: the sum of
    all) and the steps that update it (`titan.period`; absent: all). If one does, a function for each turn
    replaces the train program. A turn has the losses of its parameters, and the parameters of that loss that
    are due in the same steps. `titan.turn` says in which steps it runs. In a turn

    - the output `loss` is the sum of its losses; outputs of other losses are erased;
    - all other parameters are frozen, so differentiation computes none of their gradients;
    - inputs and parameters that the losses do not need are erased.

    Turns are in the order of their first loss among the results, the sum of all losses first; those of one
    loss in the order of the first step that runs them. The program of a turn is `train.` and its losses.

    Input:
    ```mlir
    func.func @train(%x: T {titan.input = "x"},
                     %g: T {titan.param = "g", titan.losses = ["fool"],
                            titan.period = #titan.period<every = 2, offset = 1>},
                     %d: T {titan.param = "d", titan.losses = ["tell"],
                            titan.period = #titan.period<every = 2, offset = 0>})
        -> (S {titan.output = "loss"}, S {titan.output = "loss.tell"}, S {titan.output = "loss.fool"})
        attributes {titan.program = "train"} { ... }
    ```

    Output:
    ```mlir
    func.func @train.tell(%x: T {titan.input = "x"}, %g: T {titan.frozen, titan.param = "g"},
                          %d: T {titan.param = "d", titan.period = #titan.period<every = 2, offset = 0>})
        -> (S {titan.output = "loss"}, S {titan.output = "loss.tell"})
        attributes {titan.program = "train.tell",
                    titan.turn = #titan.turn<due = [#titan.period<every = 2, offset = 0>], idle = []>} { ... }
    func.func @train.fool(...) attributes {...} { ... }
    ```

    The pass works on the module, because it replaces functions.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanBalanceStages : Pass<"titan-balance-stages", "::mlir::ModuleOp"> {
  let summary = "Distributes layers over stages by their costs";
  let description = [{
    Replaces the numbers of layers of a `dist.pipeline` with `by_cost`, so that the largest time of a stage
    is least (`base/schedule/Balance.h`). Times are the floating-point operations of the program `train`
    (CostOpInterface), three times for the forward and the backward pass, once more for recomputed operations.
    An operation outside of the layers counts with the last layer on which it depends, so that head and loss
    belong to the last stage; an operation that depends on no layer belongs to the first. A module pass,
    because it changes the pipeline of the module by the costs of a function.

    Input, with a head that costs as much as two layers:
    ```mlir
    dist.pipeline "pp" over "layers" layers_per_stage [4, 4] by_cost schedule "1f1b" microbatches 2
    ```

    Output:
    ```mlir
    dist.pipeline "pp" over "layers" layers_per_stage [5, 3] schedule "1f1b" microbatches 2
    ```
  }];
  let statistics = [Statistic<"balancedStages", "balanced stages", "Stages that got their layers by cost">];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanDistributeContractions : Pass<"titan-distribute-contractions", "::mlir::func::FuncOp"> {
  let summary = "Multiplies with the factors of a product instead of the product";
  let description = [{
    `x @ (w + s * (a @ b))` becomes `x @ w + s * ((x @ a) @ b)` if the latter takes fewer operations, for
    example if `a` and `b` are thin (low-rank adapters: Hu et al. 2021, arXiv 2106.09685). In `@train`, a
    product has two more for its gradients, and the sum `w + s * (a @ b)` has a gradient as large as `w`,
    which is an additional contraction if `w` needs none because it is frozen. The scale `s` is a scalar
    and may be absent. The sum must have no other use. Grouped contractions with such tables are
    distributed, too. Only programs change.

    Input:
    ```mlir
    %p = titan.contract %a, %b : ...        // [embed, narrow], [narrow, ffn]
    %t = titan.add %w, %p : ...             // [embed, ffn]
    %y = titan.contract %x, %t : ...        // [seq, ffn]
    ```

    Output:
    ```mlir
    %u = titan.contract %x, %w : ...        // [seq, ffn]
    %n = titan.contract %x, %a : ...        // [seq, narrow]
    %v = titan.contract %n, %b : ...        // [seq, ffn]
    %y = titan.add %u, %v : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"distributedContractions", "distributed contractions",
              "Contractions with factors instead of a product">
  ];
}

def TitanDivideTables : Pass<"titan-divide-tables", "::mlir::func::FuncOp"> {
  let summary = "Divides tables of grouped contractions into the shards of the ranks";
  let description = [{
    If axes with fixed degrees shard the indexed dimension of a table (by their first dimension that the
    table has), the dimension is split into the shards of the ranks and the elements of a shard. Rows of
    grouped contractions get the dimension of the shards: those of another shard are 0. The shards are
    independent up to the last contractions, which sum over them. A rank thus computes the rows of its
    own elements (expert parallelism: Lepikhin et al. 2020, GShard, arXiv 2006.16668), and sums of rows
    are reduced once, after the last contraction.

    The pass applies if only elementwise operations are between the first grouped contractions and the
    last ones over the same indices. On one rank the shards only need memory.

    Input, with `dist.axis_rules "ep" shards ["experts", "batch"]` of degree 2:
    ```mlir
    %g = titan.grouped_contract %x, %w1 along "experts" at %chosen : ...   // [seq, slot, ffn]
    %h = titan.tanh %g : ...
    %y = titan.grouped_contract %h, %w2 along "experts" at %chosen : ...   // [seq, slot, embed]
    ```

    Output, with local indices `%i[shard, seq, slot]`:
    ```mlir
    %g = titan.grouped_contract %x, %p1 along "experts.local" at %i : ...  // [shard, seq, slot, ffn]
    %h = titan.tanh %g : ...
    %s = titan.grouped_contract %h, %p2 along "experts.local" at %i : ...  // [shard, seq, slot, embed]
    %y = titan.reduce sum %s : ...                                         // [seq, slot, embed]
    ```
  }];
  let statistics = [
    Statistic<"dividedTables", "divided tables", "Groups of grouped contractions over the same indices with divided tables">
  ];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanSplitStages : Pass<"titan-split-stages", "::mlir::func::FuncOp"> {
  let summary = "Cuts repeats over the pipelined dimension into stages";
  let description = [{
    Replaces each outermost repeat over the dimension of `dist.pipeline` by one repeat per stage, in the
    program functions. The results of a stage are the iteration arguments of the next one. The repeats are
    marked `titan.stage`. A function keeps its meaning, and its program is still that of one device.
    Without `dist.pipeline` nothing changes.

    A stacked argument of the function becomes one argument per stage that has slots in it, with the same
    name. It is marked `titan.stage`, and `titan.stacked` contains its layers. The next values of buffers
    are divided in the same manner. Other scanned inputs are sliced. The index in the body of a stage is still that of the model.
    A stage contains the variants of its own layers only.

    The layers of several repeats over the dimension are counted one after the other. A program that lacks
    some repeats of the model has the number of layers before a repeat as `titan.first_layer`.

    A stacked output with another use than the update of a buffer is an error, and so is a stacked
    argument with a second use.

    Input, with `dist.pipeline "pp" over "layers" layers_per_stage [1, 2] schedule "1f1b" microbatches 2`:
    ```mlir
    func.func @train(%w: !titan.tensor<f32[layers = 3]> {titan.param = "layers.w", titan.stacked}, ...) {
      %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : ... {
    ```

    Output:
    ```mlir
    func.func @train(
        %w0: !titan.tensor<f32[layers.x1 = 1 of layers]>
          {titan.param = "layers.w", titan.stacked, titan.stage = 0 : i64},
        %w1: !titan.tensor<f32[layers.x2 = 2 of layers]>
          {titan.param = "layers.w", titan.stacked = [array<i64: 1, 2>], titan.stage = 1 : i64}, ...) {
      %h = titan.repeat <layers.x1 = 1 of layers> iter_args(%x) scanned(%w0) {titan.stage = 0 : i64} : ...
      %y = titan.repeat <layers.x2 = 2 of layers> iter_args(%h) scanned(%w1) {titan.stage = 1 : i64} : ...
    ```
  }];
  let statistics = [
    Statistic<"splitRepeats", "split repeats", "Repeats cut into stages">,
    Statistic<"splitArguments", "split arguments", "Arguments divided among stages">
  ];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanDifferentiate : Pass<"titan-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Adds the gradient of the loss with respect to every trained parameter";
  let description = [{
    Reverse-mode differentiation of a function with `titan.program = "train"`. The function returns in
    addition one gradient per trained parameter, that is, per parameter that is neither `titan.frozen` nor
    a `titan.buffer`. The gradients follow the other results in the order of the arguments. They are marked
    `titan.gradient`, and `titan.stacked` like the parameter.

    The element type of a gradient is `reduce` of `titan.precision`, or that of the parameter if the
    function declares no precision. Its sums use that type, also those over the iterations of a repeat.

    Operations build their own gradients (DifferentiableOpInterface). A `titan.repeat` gets a backward
    `titan.repeat` in the opposite direction. The dgrad and the wgrad of a contraction are separate
    contractions (`titan.grad_kind`). No `titan.stop_gradient` remains in any function.

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

    A parameter that does not influence the loss gets a zero gradient and a warning.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanSplitWgrad : Pass<"titan-split-wgrad", "::mlir::func::FuncOp"> {
  let summary = "Divides reverse repeats of a stage into data gradients and weight gradients";
  let description = [{
    A zero-bubble schedule computes the gradients of a stage's parameters (W) later than the gradient of its
    input (I), so that the previous stage need not wait for both (Qi et al., Zero Bubble Pipeline Parallelism,
    2023, section 2). If the schedule of `dist.pipeline` has W actions, each reverse repeat with `titan.stage`
    in a function with `titan.program = "train"` becomes two repeats over the same iterations
    (`LoopDistribution.h`): the first computes the cotangents of the iteration arguments, the second, with
    `titan.grad_kind = "wgrad"`, the stacked outputs that are gradients of parameters, up to casts and
    views. Other stacked outputs stay in the first: other stages read them.

    The second repeat scans the cotangents that it needs, and the results of contractions and attention that
    the first one recomputes. It computes cheap functions of residuals again.

    Input:
    ```mlir
    %dx, %dw = titan.repeat <layers = 2> reverse iter_args(%dy) scanned(%w, %x) {titan.stage = 0} : ... {
    ^bb0(%l: T, %c: A, %wl: W, %xl: A):
      %d = titan.contract %c, %wl {titan.grad_kind = "dgrad"} : ...
      %g = titan.contract %xl, %c {titan.grad_kind = "wgrad"} : ...
      titan.yield %d, %g : ...
    ```

    Output (`%h` is the constrained cotangent `%c`):
    ```mlir
    %dx, %hs = titan.repeat <layers = 2> reverse iter_args(%dy) scanned(%w) {titan.stage = 0} : ... {
      ...
      titan.yield %d, %h : ...
    }
    %dw = titan.repeat <layers = 2> reverse iter_args() scanned(%x, %hs)
        {titan.stage = 0, titan.grad_kind = "wgrad"} : ... {
      %g = titan.contract %xl, %hl {titan.grad_kind = "wgrad"} : ...
      titan.yield %g : ...
    ```
  }];
  let statistics = [
    Statistic<"dividedRepeats", "divided repeats", "Reverse repeats that became two">
  ];
}

def TitanAccumulate : Pass<"titan-accumulate", "::mlir::func::FuncOp"> {
  let summary = "Splits a step into microbatches and accumulates their gradients";
  let description = [{
    Gradient accumulation, in a function with `titan.program = "train"` and `titan.accumulate = {dim =
    "batch", microbatches = 4}`. All values with the dimension, the loss and the gradients move into a
    `titan.repeat` over microbatches. The results of the loop are sums, which start at zero. Operations
    that need complete sums (clipping, the optimizer) follow the loop. Activations need memory for one
    microbatch only. The result is equal except for the order of the sums.

    The sharding rules determine the batch dependence of each value (`BatchDependence.h`), so the pass
    refers to no operation by name. Nothing is scaled by the number of microbatches, since the loss
    remains that of the global program.

    The attribute always makes a loop, also of one microbatch.

    Sums over inputs only, such as the number of valid tokens, are computed before the loop. A repeat over
    layers may compute stacked outputs from its sums: the next values of buffers. Loop distribution moves
    these computations into a second repeat after the loop (`LoopDistribution.h`). Any other operation in
    the loop that needs a sum over the whole batch is an error.

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
      ^bb0(%m: !titan.tensor<i64[]>, %sum: !titan.tensor<f32[]>, %slice: !titan.tensor<f32[batch = 4]>):
        %y = titan.mul %slice, %w : ...
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

def TitanChunkLoss : Pass<"titan-chunk-loss", "::mlir::func::FuncOp"> {
  let summary = "Computes the head, the loss and their gradients in chunks";
  let description = [{
    Applies to a function with `titan.program = "train"`. The operations that produce and read the
    largest values move into a `titan.repeat` over chunks of a dimension. Logits and their gradient are
    then never whole in memory. Operands become scanned inputs, values of one chunk stacked outputs. Sums
    over the chunks (the loss, the head's gradient) become iteration arguments that start at zero. The
    result is equal except for the order of the sums.

    The sharding rules determine which values are sliced (`Chunks.h`), so the pass refers to no operation
    by name.

    `titan.loss_chunks = 4` sets the number of chunks. The pass slices the outermost suitable dimension of
    the largest value: one that no parameter has, that no mesh axis shards, and that the number divides. If
    there is none, the pass fails with an error at the operation that prevents chunking.

    Without the attribute the pass chooses the fewest chunks such that a chunk of the largest value has at
    most half the bytes of the largest sum on a rank. Up to 128 MiB it may have as many bytes as the sum,
    since products with few rows are slow. More chunks would save little: the sum stays in memory, and
    each chunk moves it once. With microbatches, the bytes are those of one. Values and chunks of at most `min-chunk-bytes` are not divided.

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
      ^bb0(%p: !titan.tensor<i64[]>, %sum: <f32[embed = 2, vocab = 64]>, %chunk: <f32[seq = 4, embed = 2]>):
        %logits = titan.contract %chunk, %w : ... -> <f32[seq = 4, vocab = 64]>
        %d = titan.exp %logits : ...
        %term = titan.contract %chunk, %d : ... -> <f32[embed = 2, vocab = 64]>
        %next = titan.add %sum, %term : ...
        titan.yield %next
      }
    ```
  }];
  let options = [
    Option<"minChunkBytes", "min-chunk-bytes", "int64_t", "int64_t{32} << 20",
           "Values up to this size on a rank stay whole if the pass chooses the number of chunks">
  ];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanAddOptimizer : Pass<"titan-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "Adds clipping and the optimizer's update of every parameter";
  let description = [{
    Needs the gradients as results (`--titan-differentiate`), and the name of an optimizer
    (`titan.updated_by`) on each trained parameter: a private function of parameter, gradient, states,
    learning rate and step that computes the update (OptimizerFunction.h).
    The pass appends arguments: for each parameter the optimizer's states (`titan.state`, named
    `<state>.<parameter>`, in the element type `optimizer` of `titan.precision` if that is declared),
    then the scalars `lr` and `step`.
    After the loss it inserts the results `grad_norm` and `local_loss`: the loss again, of which each
    rank may return its unreduced value (`titan.unreduced`). After the gradients it appends each
    parameter's new value and states, marked `titan.updates` with the number of the argument that they
    replace.

    An elementwise update becomes one `titan.apply`. Any other update is inlined. The function may lack
    dimensions of the parameter, those of a repeat's stack or of a batch of matrices: every value that
    depends on the parameter then gets them, and each element is updated by itself. The functions of
    optimizers are erased.

    With `titan.clip`, all gradients are scaled by min(1, clip / (norm + 1e-6)), where norm is the
    2-norm of all of them together, as torch.nn.utils.clip_grad_norm_ does. With `titan.clip_value`,
    every element is then clamped to this magnitude, as clip_grad_value_ does.

    With `titan.skip_nonfinite`, a step whose loss or norm is not finite does not change parameters,
    states and buffers: the scale is then NaN, and a select chooses the old values.

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

    The pass works on the module, because it inlines the functions of optimizers and erases them.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanVerifyGradientPhase : Pass<"titan-verify-gradient-phase", "::mlir::func::FuncOp"> {
  let summary = "Checks what holds after the gradient phase; changes nothing";
  let description = [{
    In a function with `titan.program = "train"`:
    - (G1) every trained parameter has exactly one gradient of its name and stage, with its dimensions
      and the declared element type;
    - (G2) exactly one result of its type updates each trained parameter, buffer and state; none
      updates a frozen parameter;
    - (G3) the results `loss` and `grad_norm` and the scalars `lr` and `step` exist.
    In every function:
    - (G4) no `titan.stop_gradient` remains.
  }];
}

#endif // TITAN_TRANSFORMS_GRADIENT_PASSES_TD
