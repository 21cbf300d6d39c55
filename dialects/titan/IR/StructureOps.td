//===- StructureOps.td - Repetition as structure --------------------------===//

#ifndef TITAN_STRUCTURE_OPS_TD
#define TITAN_STRUCTURE_OPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "dialects/titan/IR/TitanOpBase.td"

/// For each slice or stack the variants that use it; an empty list stands for all.
def Titan_VariantListsAttr : TypedArrayAttrBase<DenseI64ArrayAttr, "lists of variants">;

def Titan_RepeatOp : Titan_Op<"repeat", [RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "layers: bodies run once per index, with carried values and slices";
  let description = [{
    Runs a body for l = 0 .. n-1 (`reverse`: n-1 .. 0), where n is the size of the dimension `dim`.
    There is one body or several, the *variants*; then `table` says for each l which of them runs.

    A body's arguments are, in this order: l (rank 0, i64); the carried values, starting with
    `inits`; for each tensor of `slices` that the variant uses (which have the iterations first) its
    slice at l. A body yields the next carried values, then values to stack: each is written into the
    slot of l of a result with the iterations in front. Values from outside may be used freely.
    Results: final carried values, then stacks.

    A slice or stack that only the variants [1, 2] use has a slot for each iteration that runs one of
    these, in order of l, whichever direction the repeat has. Its leading dimension is `dim` where all
    iterations use it, and `<layers.x3 = 3 of layers>` where three do.

    This is a scan; its gradient is a scan in the other direction, stacks and slices trading places.

    Constraints:
    - (C1) each body's arguments match `inits` and the slices that its variant uses.
    - (C2) each yield's leading values have the types of `inits`, up to sharding.
    - (C3) results are the carried types followed by the stacked types with their slots in front.
    - (C4) there is an iteration; the table has one entry for each, and every variant occurs in it.
    - (C5) users of slices and stacks are variants, ascending, at least one.

    Examples:
    ```mlir
    %y, %hs = titan.repeat <layers = 6> iter_args(%x) scanned(%w)
        : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers = 6, seq = 8]>)
       -> (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers = 6, seq = 8]>) {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8]>, %wl: !titan.tensor<f32[seq = 8]>):
      %n = titan.mul %c, %wl : ...
      titan.yield %n, %c : ...
    }

    %z = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned(%w for [1]) :
        (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers.x1 = 1 of layers, seq = 8]>)
       -> !titan.tensor<f32[seq = 8]> {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8]>):
      ...
    }, {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8]>, %wl: !titan.tensor<f32[seq = 8]>):
      ...
    }
    ```
    Stacks of some variants are listed behind the slices: `stacked([0], [0, 1])`.
  }];
  let arguments = (ins Titan_DimAttr:$dim, UnitAttr:$reverse,
                       OptionalAttr<DenseI64ArrayAttr>:$table,
                       OptionalAttr<Titan_VariantListsAttr>:$scanned_users,
                       OptionalAttr<Titan_VariantListsAttr>:$stacked_users,
                       Variadic<Titan_Tensor>:$inits, Variadic<Titan_Tensor>:$scanned_inputs);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [
    /// With one empty body.
    OpBuilder<(ins "DimAttr":$dim, "bool":$reverse, "::mlir::ValueRange":$inits,
                   "::mlir::ValueRange":$scannedInputs, "::mlir::TypeRange":$stackedTypes)>,
    /// With the table and the direction given, users as lists (empty: all variants use everything),
    /// and regions without blocks.
    OpBuilder<(ins "::mlir::TypeRange":$results, "DimAttr":$dim, "bool":$reverse,
                   "const IterationTable &":$table, "::mlir::ValueRange":$inits,
                   "::mlir::ValueRange":$scannedInputs, "const VariantLists &":$scannedUsers,
                   "const VariantLists &":$stackedUsers)>
  ];
  let extraClassDeclaration = [{
    unsigned getNumIterArgs() { return getInits().size(); }
    ::mlir::ResultRange getIterResults() { return getResults().take_front(getNumIterArgs()); }
    ::mlir::ResultRange getStackedOutputs() { return getResults().drop_front(getNumIterArgs()); }

    unsigned getNumVariants() { return getBodies().size(); }
    RepeatVariant getVariant(unsigned number);
    ::llvm::SmallVector<RepeatVariant, 2> getVariants();
    IterationTable getIterations();
    /// The variants that use slice `index`, or that yield stack `index`.
    ::llvm::SmallVector<int64_t> getScannedUsers(unsigned index);
    ::llvm::SmallVector<int64_t> getStackedUsers(unsigned index);
    VariantLists getAllScannedUsers();
    VariantLists getAllStackedUsers();
    /// What the bodies that use result `index` yield for it.
    ::llvm::SmallVector<::mlir::Value> getYielded(unsigned index);

    /// The leading dimension of a tensor with a slot for each iteration that runs one of `users`.
    DimAttr getStackDim(::llvm::ArrayRef<int64_t> users);
    static DimAttr getStackDim(DimAttr dim, int64_t slots);
    /// Lists of users as an attribute: an empty list for all variants; null if all are that.
    static ::mlir::ArrayAttr packUsers(::mlir::Builder &builder, const VariantLists &lists,
                                       size_t numVariants);
    static unsigned countVariants(::llvm::ArrayRef<int64_t> table);
    /// `type` without its leading dimension (with its sharding's first list dropped), and the reverse.
    static NamedTensorType getSlotType(NamedTensorType type);
    static NamedTensorType getStackedType(DimAttr dim, NamedTensorType type);
  }];
}

def Titan_YieldOp : Titan_Op<"yield", [Pure, Terminator, ParentOneOf<["RepeatOp", "FusedOp", "ScalarFunctionOp"]>]> {
  let summary = "ends the body of a repeat, of fused operations or of a scalar function";
  let description = [{
    In a repeat: next carried values, then the values to stack. In a fused region or a scalar function: its results.
    Example: `titan.yield %n, %c : T, T`
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

def Titan_ScalarFunctionOp : Titan_Op<"scalar_function", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "a function of numbers";
  let description = [{
    Elementwise operations on tensors of rank 0, which `titan.apply` evaluates at every index of its
    operands. A symbol of the module and not a region of its users: it has no dimensions, no sharding and
    no allocation, so passes over program functions need not know of it.

    Constraints:
    - (C1) arguments and all results of operations have rank 0.
    - (C2) every operation is elementwise, has one result, and does not depend on an index.

    Example:
    ```mlir
    titan.scalar_function @descent {
    ^bb0(%p: !titan.tensor<f32[]>, %g: !titan.tensor<f32[]>):
      %next = titan.sub %p, %g : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
      titan.yield %next : !titan.tensor<f32[]>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
    /// Its operations in order, without the yield.
    ::llvm::SmallVector<::mlir::Operation *> getSteps();
  }];
}

#endif // TITAN_STRUCTURE_OPS_TD
