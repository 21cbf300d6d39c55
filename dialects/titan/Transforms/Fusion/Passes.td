// Passes of the fuse phase.

#ifndef TITAN_TRANSFORMS_FUSION_PASSES_TD
#define TITAN_TRANSFORMS_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanAddInRepeats : Pass<"titan-add-in-repeats", "::mlir::func::FuncOp"> {
  let summary = "Adds the slots of a stack in the repeat that computes them";
  let description = [{
    If a value from before a repeat is added to a stack that the repeat computes, each iteration adds its
    slot instead. The memory phase then keeps one allocation for the value and the sum, and the stack of
    terms, such as the gradients of one microbatch, is never in memory.

    Input:
    ```mlir
    %g = titan.repeat <layers = 2> reverse ... { ... titan.yield %d }
    %next = titan.add %sum, %g
    ```

    Output:
    ```mlir
    %next = titan.repeat <layers = 2> reverse ... scanned(%sum) { ... %n = titan.add %slot, %d  titan.yield %n }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"addedStacks", "added stacks", "Stacks whose slots are added in their repeat">
  ];
}

def TitanAddInto : Pass<"titan-add-into", "::mlir::func::FuncOp"> {
  let summary = "Accumulates scatters and contractions into the tensor that they are added to";
  let description = [{
    Lets a term accumulate into the other operand of a sum, so that the term needs no tensor. Terms are
    scatters: a table that is both gathered from and multiplied has two gradients, one of them almost
    everywhere 0. Terms are also contractions that a repeat accumulates, for example over microbatches.

    Input:
    ```mlir
    %a = titan.contract %x, %d : [vocab, embed]
    %b = titan.scatter %u along "vocab" at %tokens : [vocab, embed]
    %c = titan.add %a, %b
    ```

    Output:
    ```mlir
    %a = titan.contract %x, %d : [vocab, embed]
    %c = titan.scatter %u along "vocab" at %tokens into %a
    ```

    The order of additions changes: results may differ in the last digits.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"accumulatedTerms", "accumulated terms", "Terms that accumulate into the other operand of a sum">
  ];
}

def TitanRecomputeValues : Pass<"titan-recompute-values", "::mlir::func::FuncOp"> {
  let summary = "Recomputes values in later loops instead of keeping them";
  let description = [{
    If only elementwise operations and reductions read a value, its loop need not store it, unless other
    loops read it. If these follow a product, a message or a repeat, they compute the value again, from
    values that are in memory. Such values may not need more memory than the recomputed one, if they are
    not alive anyway.

    Input:
    ```mlir
    %wide = titan.cast %x : bf16 -> f32
    %s = titan.reduce sum %wide
    %y = titan.contract ...
    %d = titan.mul %dy, %wide
    ```

    Output: `%wide` is never a tensor in memory:
    ```mlir
    %wide = titan.cast %x : bf16 -> f32
    %s = titan.reduce sum %wide
    %y = titan.contract ...
    %again = titan.cast %x : bf16 -> f32
    %d = titan.mul %dy, %again
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let statistics = [
    Statistic<"recomputedOps", "recomputed operations", "Operations that a later loop evaluates again">
  ];
}

def TitanRecomputeRows : Pass<"titan-recompute-rows", "::mlir::func::FuncOp"> {
  let summary = "Recomputes long rows in each loop that reads them";
  let description = [{
    A row that exceeds the row buffers is a tensor in memory if several loops read it. The pass recomputes
    it in each loop from values that are in memory anyway.

    Input:
    ```mlir
    %s = titan.sub %logits, %top : [tokens, vocab]
    %e = titan.exp %s
    %n = titan.reduce sum %e : [tokens, vocab] -> [tokens]
    %p = titan.div %e, %n : [tokens, vocab]
    ```

    Output: `%p` reads a clone of `%e` on a clone of `%s`, so that neither is a tensor in memory:
    ```mlir
    %s = ...
    %e = ...
    %n = ...
    %s2 = titan.sub %logits, %top
    %e2 = titan.exp %s2
    %p = titan.div %e2, %n
    ```

    A gather of one element per row becomes a loop over the row.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let statistics = [
    Statistic<"recomputedOps", "recomputed operations", "Operations that a second loop evaluates again">,
    Statistic<"scannedGathers", "scanned gathers", "Gathers that became a loop over the row">
  ];
}

def TitanFuseRows : Pass<"titan-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "Fuses elementwise operations and reductions over the same rows";
  let description = [{
    Moves operations over the same rows into one region, which evaluates them row by row.

    Input:
    ```mlir
    %s = titan.reduce sum %x : [seq, embed] -> [seq]
    %y = titan.div %x, %s : [seq, embed]
    ```

    Output:
    ```mlir
    %y = titan.fused rows ["seq"] {
      %s = titan.reduce sum %x
      %d = titan.div %x, %s
      titan.yield %d
    }
    ```

    `%s` is never a tensor in memory, and the second read of `%x` is from the cache.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"fusedRegions", "fused regions", "Regions that evaluate several operations row by row">,
    Statistic<"fusedOps", "fused operations", "Operations inside these regions">
  ];
}

#endif // TITAN_TRANSFORMS_FUSION_PASSES_TD
