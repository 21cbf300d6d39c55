//===- StructureOps.td - Repetition as structure --------------------------===//

#ifndef TITAN_STRUCTURE_OPS_TD
#define TITAN_STRUCTURE_OPS_TD

include "dialects/titan/IR/TitanOpBase.td"

def Titan_RepeatOp : Titan_Op<"repeat", [RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "layers: a body run once per index, with carried values and slices";
  let description = [{
    Runs the body for l = 0 .. n-1 (`reverse`: n-1 .. 0), where n is the size of the dimension `dim`.
    The body's arguments are, in this order: l (rank 0, i64); the carried values, starting with
    `inits`; for each tensor of `slices` (which have `dim` first) its slice at l. The body yields the
    next carried values, then values to stack: each becomes a result with `dim` in front, written at
    index l. Values from outside may be used freely. Results: final carried values, then stacks.

    This is a scan; its gradient is a scan in the other direction, stacks and slices trading places.

    Constraints:
    - (C1) the body's arguments match `inits` and `slices`.
    - (C2) the yield's leading values have the types of `inits`, up to sharding.
    - (C3) results are the carried types followed by the stacked types with `dim` in front.

    Example:
    ```mlir
    %y, %hs = titan.repeat <layers = 6> carry(%x) slices(%w)
        : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers = 6, seq = 8]>)
       -> (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers = 6, seq = 8]>) {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8]>, %wl: !titan.tensor<f32[seq = 8]>):
      %n = titan.mul %c, %wl : ...
      titan.yield %n, %c : ...
    }
    ```
  }];
  let arguments = (ins Titan_DimAttr:$dim, UnitAttr:$reverse, Variadic<Titan_Tensor>:$inits,
                       Variadic<Titan_Tensor>:$slices);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "DimAttr":$dim, "bool":$reverse, "::mlir::ValueRange":$inits,
                                 "::mlir::ValueRange":$slices, "::mlir::TypeRange":$stackedTypes)>];
  let extraClassDeclaration = [{
    unsigned getNumCarried() { return getInits().size(); }
    ::mlir::BlockArgument getIndex() { return getBody().front().getArgument(0); }
    /// The body's arguments for carried values and for slices.
    ::mlir::Block::BlockArgListType getCarriedArgs();
    ::mlir::Block::BlockArgListType getSliceArgs();
    ::mlir::ResultRange getCarriedResults() { return getResults().take_front(getNumCarried()); }
    ::mlir::ResultRange getStackedResults() { return getResults().drop_front(getNumCarried()); }
    YieldOp getYield();
    /// `type` without its leading dimension (with its sharding's first list dropped), and the reverse.
    static NamedTensorType getSliceType(NamedTensorType type);
    static NamedTensorType getStackedType(DimAttr dim, NamedTensorType type);
  }];
}

def Titan_YieldOp : Titan_Op<"yield", [Pure, Terminator, ParentOneOf<["RepeatOp", "FusedOp"]>]> {
  let summary = "ends the body of a repeat or of fused operations";
  let description = [{
    In a repeat: next carried values, then the values to stack. In a fused region: its results. Example: `titan.yield %n, %c : T, T`
  }];
  let arguments = (ins Variadic<Titan_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Titan_FusedOp : Titan_Op<"fused", [RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "operations that are computed together, row by row";
  let description = [{
    The body is walked once per index of the dimensions `rows`, for all operations together, so values
    that are not yielded are never whole in memory. It holds elementwise operations, reductions over
    dimensions that are not rows, and take and put along such a dimension. Means what its body means.

    Constraints:
    - (C1) the results are the yielded values' types.
    - (C2) every operation's results have the dimensions `rows`, except those of rank 0 or iotas,
      which are computed for every row anew.

    Example:
    ```mlir
    %y = titan.fused rows ["seq"] : !titan.tensor<f32[seq = 8, embed = 4]> {
      %s = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8]>
      %d = titan.div %x, %s : (...) -> !titan.tensor<f32[seq = 8, embed = 4]>
      titan.yield %d : !titan.tensor<f32[seq = 8, embed = 4]>
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$rows);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`rows` $rows `:` type($results) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

#endif // TITAN_STRUCTURE_OPS_TD
