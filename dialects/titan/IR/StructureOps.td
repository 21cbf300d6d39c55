// Repeats, fused regions and scalar functions.

#ifndef TITAN_STRUCTURE_OPS_TD
#define TITAN_STRUCTURE_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "dialects/titan/IR/TitanOpBase.td"

/// For each scanned input or stacked output, the variants that use it; an empty list means all.
def Titan_VariantListsAttr : TypedArrayAttrBase<DenseI64ArrayAttr, "lists of variants">;

def Titan_RepeatOp : Titan_Op<"repeat", [RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LoopLikeOpInterface>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getEntrySuccessorOperands", "areTypesCompatible", "getRegionInvocationBounds"]>]> {
  let summary = "a loop with iteration arguments, scanned inputs and stacked outputs";
  let description = [{
    Runs a body for l = 0 .. n-1 (`reverse`: n-1 .. 0), where n is the size of the dimension `dim`.
    With several bodies, the *variants*, `table` contains the variant of each l.

    The arguments of a body are, in this order: l (rank 0, i64); the iteration arguments, initially
    `inits`; one slot, at l, of each scanned input that the variant uses. The iterations are the leading
    dimension of a scanned input. A body yields the next iteration arguments, then the values of the
    stacked outputs: each is stored in slot l of a result with the iterations as leading dimension. A
    body may use values from outside. The results are the final iteration arguments, then the stacked
    outputs.

    A scanned input or stacked output that only the variants [1, 2] use has one slot per iteration that
    runs one of them, in order of l in both directions. Its leading dimension is `dim` if all iterations
    use it, and for example `<layers.x3 = 3 of layers>` if three do.

    This is `lax.scan`. Its gradient is a scan in the other direction, in which scanned inputs become
    stacked outputs and vice versa.

    Control flow (`RegionBranchOpInterface`) forwards the iteration arguments only: from one body to the
    bodies that follow it in the table, and from the last body to the leading results.

    Constraints:
    - (C1) the arguments of each body match `inits` and the scanned inputs that its variant uses.
    - (C2) the leading values of each yield have the types of `inits`, up to sharding.
    - (C3) the result types are those of the iteration arguments, then those of the stacked outputs,
      which are the yielded types with a leading dimension.
    - (C4) there is at least one iteration; the table has one entry per iteration, and every variant
      occurs in it.
    - (C5) the users of a scanned input or stacked output are variants, ascending, at least one.

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
    Users of stacked outputs follow the scanned inputs: `stacked([0], [0, 1])`.
  }];
  let arguments = (ins Titan_DimAttr:$dim, UnitAttr:$reverse,
                       OptionalAttr<DenseI64ArrayAttr>:$table,
                       OptionalAttr<Titan_VariantListsAttr>:$scanned_users,
                       OptionalAttr<Titan_VariantListsAttr>:$stacked_users,
                       Variadic<Titan_Tensor>:$init_args, Variadic<Titan_Tensor>:$scanned_inputs);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [
    /// With one empty body.
    OpBuilder<(ins "DimAttr":$dim, "bool":$reverse, "::mlir::ValueRange":$inits,
                   "::mlir::ValueRange":$scannedInputs, "::mlir::TypeRange":$stackedTypes)>,
    /// With a table and regions without blocks. Empty lists of users: all variants use everything.
    OpBuilder<(ins "::mlir::TypeRange":$results, "DimAttr":$dim, "bool":$reverse,
                   "const IterationTable &":$table, "::mlir::ValueRange":$inits,
                   "::mlir::ValueRange":$scannedInputs, "const VariantLists &":$scannedUsers,
                   "const VariantLists &":$stackedUsers)>
  ];
  let extraClassDeclaration = [{
    /// Hides the method of LoopLikeOpInterface, whose iteration arguments are those of one body.
    ::mlir::OperandRange getInits() { return getInitArgs(); }
    unsigned getNumIterArgs() { return getInits().size(); }
    ::mlir::ResultRange getIterResults() { return getResults().take_front(getNumIterArgs()); }
    ::mlir::ResultRange getStackedOutputs() { return getResults().drop_front(getNumIterArgs()); }

    unsigned getNumVariants() { return getBodies().size(); }
    RepeatVariant getVariant(unsigned number);
    ::llvm::SmallVector<RepeatVariant, 2> getVariants();
    IterationTable getIterations();
    /// The variants that use scanned input `index`, or that yield stacked output `index`.
    ::llvm::SmallVector<int64_t> getScannedUsers(unsigned index);
    ::llvm::SmallVector<int64_t> getStackedUsers(unsigned index);
    VariantLists getAllScannedUsers();
    VariantLists getAllStackedUsers();
    /// The values that bodies yield for result `index`.
    ::llvm::SmallVector<::mlir::Value> getYielded(unsigned index);

    /// The leading dimension of a tensor with a slot for each iteration that runs one of `users`.
    DimAttr getStackDim(::llvm::ArrayRef<int64_t> users);
    static DimAttr getStackDim(DimAttr dim, int64_t slots);
    /// Lists of users as an attribute. An empty list means all variants; null means empty lists.
    static ::mlir::ArrayAttr packUsers(::mlir::Builder &builder, const VariantLists &lists,
                                       size_t numVariants);
    static unsigned countVariants(::llvm::ArrayRef<int64_t> table);
    /// `type` without its leading dimension and the axes of that dimension, and the inverse.
    static NamedTensorType getSlotType(NamedTensorType type);
    static NamedTensorType getStackedType(DimAttr dim, NamedTensorType type);
  }];
}

def Titan_YieldOp : Titan_Op<"yield", [Pure, Terminator, ParentOneOf<["RepeatOp", "FusedOp", "ScalarFunctionOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "terminator of the body of a repeat, fused region or scalar function";
  let description = [{
    In a repeat: the next iteration arguments, then the values of the stacked outputs. In a fused region or a
    scalar function: its results.

    Example: `titan.yield %n, %c : T, T`
  }];
  let arguments = (ins Variadic<Titan_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Titan_FusedOp : Titan_Op<"fused", [RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "operations that are evaluated row by row";
  let description = [{
    The body runs once per index of the dimensions `rows`. Values that it does not yield are therefore
    never tensors in memory. The body contains elementwise operations, reductions over dimensions other
    than `rows`, and gathers and scatters along such dimensions. The results equal those of the body.

    Constraints:
    - (C1) the result types are the types of the yielded values.
    - (C2) the results of every operation have the dimensions `rows`, except results of rank 0 and
      iotas, which every row evaluates.

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
    - (C3) with `titan.schedule` or `titan.batch_values`, which list the source of each argument: arguments and the
      one result are f64.

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
