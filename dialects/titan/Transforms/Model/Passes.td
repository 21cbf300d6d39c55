// Passes of the model phase.

#ifndef TITAN_TRANSFORMS_MODEL_PASSES_TD
#define TITAN_TRANSFORMS_MODEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanVerifyModelPhase : Pass<"titan-verify-model-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what holds after the model phase; changes nothing";
  let description = [{
    A program is a function with `titan.program`. In every program:
    - (M1) an argument has exactly one role: `titan.input`, `titan.param`, `titan.cache`, or
      `titan.scalar` if the program draws random numbers or computes from a position on. The optimizer
      adds states later;
    - (M2) a parameter has an initialiser (`titan.init`) and a unique name;
    - (M3) a parameter has the same type, initialiser and trainability in every program, since all
      programs share its memory.
    In a program `"train"`:
    - (M4) one result is the loss: `titan.output = "loss"`, floating-point, without dimensions. The
      other results are named losses, `"loss.NAME"`, metrics, `"metric.NAME"`, and exactly one next value (`titan.updates`) of
      each buffer (`titan.buffer`);
    - (M5) `titan.updated_by` of each trained parameter names the function that updates it.
    In the module:
    - (M6) no type has a sharding;
    - (M7) a value has at most 2**53 elements over all iterations of the repeats around it.

    The pass works on the module, because (M3) compares programs.
  }];
}

def TitanFoldSelects : Pass<"titan-fold-selects", "::mlir::func::FuncOp"> {
  let summary = "Removes selects whose conditions the ranges of indices decide";
  let description = [{
    Replaces a `titan.select` by one of its operands if its condition compares integers whose ranges
    decide the comparison, such as `labels < 0` for labels that are tokens. A loss that leaves out
    negative labels therefore costs nothing if no label can be negative. The ranges are those of
    `--titan-check-indices`, which runs after this pass and sees the simpler indices.

    Input, with `titan.sizes = {vocab = 256 : i64}`:
    ```mlir
    %ignored = titan.compare lt %labels, %zero : ...
    %index = titan.select %ignored, %zero, %labels : ...
    ```

    Output: `%labels` instead of `%index`.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanCheckIndices : Pass<"titan-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Inserts bounds checks of computed indices";
  let description = [{
    Inserts a `titan.check_index` before every `gather` and `scatter` whose indices may exceed the
    dimension. The bounds of indices follow from dimension sizes, iteration counts, and the token bound
    that the runtime enforces (`titan.sizes`). An input that contains the indices themselves, or replaces negative
    ones by a constant, gets `titan.index_range`: the runtime checks such arrays before the first step.

    Input, with `titan.sizes = {vocab = 256 : i64}`:
    ```mlir
    %x = titan.gather %table along "vocab" at %tokens : ...   // a table of 100 rows
    ```

    Output:
    ```mlir
    %i = titan.check_index %tokens along "vocab" size 100 : ...
    %x = titan.gather %table along "vocab" at %i : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanAddDecode : Pass<"titan-add-decode", "::mlir::ModuleOp"> {
  let summary = "Adds the programs that compute the logits of new positions from caches";
  let description = [{
    Copies @logits for a chunk of positions of `seq` that begins at the scalar `position`. @decode has one
    position. @prefill has the largest divisor of the number of positions up to the option `prefill`, or all
    positions if an axis of degree `auto` may shard them. Most operations compute each row from the same row of
    their operands, so they are unchanged except for the number of rows. Positional operations
    get the position. A causal operation (CausalOpInterface) reads the operands of earlier positions from
    a cache: an argument `titan.cache`, into which the program inserts the rows of its chunk, and which it
    returns (`titan.updates`). A cache in a repeat is scanned and stacked.

    Where keys and values are products of narrower rows and of weights, the weights multiply queries and
    results of attention instead, and the caches contain the narrower rows: `(q @ up) @ c` for `q @ (c @ up)`.
    The pass does not do so if the arithmetic of attention would grow by a larger factor than its caches shrink.

    With the option `slots` above 1, @decode_batch computes one position of each of several texts, whose
    dimension `batch.slots` replaces the samples. The text in a slot is at the position that
    `titan.scalar = "slot_positions"` has for the slot. @admit copies the caches of @decode to a slot of those of
    @decode_batch. Both are absent if samples depend on one another or on their number.

    @logits loses iteration arguments and operations on which its results do not depend.

    If an operation relates positions in another manner, no program is added, and `titan.uncached` on @logits says
    which one. The pass does nothing where @decode exists.

    Input, in @logits with `seq = 8`:
    ```mlir
    %k = titan.contract %h, %wk : ...        // [batch = 1, seq = 8, head = 4]
    %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {causal, ...} : ...
    ```

    Output, in @decode:
    ```mlir
    %k = titan.contract %h, %wk : ...        // [batch = 1, seq = 1, head = 4]
    %ks = titan.insert_slice %k into %cache dim "seq" from %position : ...
    %y, %lse = titan.attention %q, %ks, %vs from %position along "seq" head "head" {causal, ...} : ...
    ```

    The pass works on the module, because it adds functions.
  }];
  let options = [
    Option<"prefill", "prefill", "int64_t", /*default=*/"64", "Most positions of @prefill">,
    Option<"slots", "slots", "int64_t", /*default=*/"1", "Texts of @decode_batch; 1: no such program">
  ];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanSplitEvaluation : Pass<"titan-split-evaluation", "::mlir::ModuleOp"> {
  let summary = "Separates what an evaluation computes for each batch from what it computes once";
  let description = [{
    An evaluation averages the outputs of its batches. For a quotient, such as a mean over labels that count, the
    average of quotients is not the quotient of all batches together. An output of @eval becomes a
    `titan.scalar_function` with `titan.evaluates`, if operations on numbers compute it that do not commute with
    an average. @eval returns the arguments of the function instead, as outputs `batch.N` or, where an
    output has this value, by its name; `titan.batch_values` lists them. The runtime applies the
    function once, in f64, to their averages over all batches.

    Sums, differences and constant factors commute with an average, so most losses stay in @eval. A number of
    a batch that is no sum over its samples, such as a maximum, is averaged, too.

    Input:
    ```mlir
    %loss = titan.div %sum, %count : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    return %loss : ...        // titan.output = "loss"
    ```

    Output:
    ```mlir
    titan.scalar_function @evaluation.loss attributes {titan.evaluates = "loss", titan.batch_values = ["batch.0", "batch.1"]} {
    ^bb0(%sum: !titan.tensor<f64[]>, %count: !titan.tensor<f64[]>):
      %loss = titan.div %sum, %count : ...
      titan.yield %loss : !titan.tensor<f64[]>
    }
    ...
    return %sum, %count : ... // titan.output = "batch.0", titan.output = "batch.1"
    ```

    The pass works on the module, because it adds symbols.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanFindSampleSums : Pass<"titan-find-sample-sums", "::mlir::ModuleOp"> {
  let summary = "Marks modules whose evaluations can count some samples of a batch alone";
  let description = [{
    Sets `titan.sums_over_samples` on the module if each output of @eval is a constant plus one term per sample,
    and the term depends on that sample alone. The runtime then evaluates sets that do not fill their last batch: it
    repeats a sample, and subtracts what the copies add. The sharding rules follow the samples; the attribute
    `titan.data_dims` names their dimension. A maximum over samples, a product of two sums, random numbers and
    operations that relate samples, such as the similarities of a contrastive loss, are no sums.

    Input:
    ```mlir
    func.func @eval(%x: !titan.tensor<f32[batch = 4]> {titan.input = "x"}) -> (!titan.tensor<f32[]> {titan.output = "loss"}) {
      %squares = titan.mul %x, %x : ...
      %loss = titan.reduce sum %squares : ...
      return %loss : !titan.tensor<f32[]>
    }
    ```

    Output: the module has `titan.sums_over_samples`.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanGroupContractions : Pass<"titan-group-contractions", "::mlir::func::FuncOp"> {
  let summary = "Contracts with gathered matrices without gathering them";
  let description = [{
    Replaces a contraction with gathered elements of a table by `titan.grouped_contract`, if each element
    is a matrix: experts of a mixture, selected per token. The gathered tensor would repeat a matrix for
    each row. A result without some dimension of the indices becomes a sum over that dimension.

    Input:
    ```mlir
    %e = titan.gather %w along "experts" at %chosen : ...      // [seq, slot, embed, ffn]
    %y = titan.contract %x, %e : ...                           // [seq, slot, ffn]
    ```

    Output:
    ```mlir
    %y = titan.grouped_contract %x, %w along "experts" at %chosen : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"groupedContractions", "grouped contractions", "Contractions that became grouped">
  ];
}

#endif // TITAN_TRANSFORMS_MODEL_PASSES_TD
