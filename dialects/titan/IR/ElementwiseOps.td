// Scalar functions mapped over named dimensions.

#ifndef TITAN_ELEMENTWISE_OPS_TD
#define TITAN_ELEMENTWISE_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "dialects/titan/IR/TitanOpBase.td"

def Titan_DimsAttr : TypedArrayAttrBase<Titan_DimAttr, "dimensions">;

class Titan_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Titan_Op<mnemonic, !listconcat([Pure, Titan_Elementwise], traits)> {
  let hasVerifier = 1;
}

class Titan_UnaryOp<string mnemonic, string function, string formula, list<Trait> traits = []>
    : Titan_ElementwiseOp<mnemonic, !listconcat([Titan_InferType], traits)> {
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let definitions = Titan_InferTypeAs<"operands[0].getType()">.definitions # [{
    ::mlir::LogicalResult $cppClass::verify() { return verifyUnary(*this); }
  }];
  let summary = function # " of every element";
  let description = "`" # formula # [{`, element by element.

    Constraints:
    - (C1) operand and result have the same dimensions, up to sharding.
    - (C2) the element type is a floating-point type and is the same.

    Example: `%y = titan.}] # mnemonic # [{ %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`}];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

/// Elementwise operations that broadcast their operands by dimension name.
class Titan_BroadcastingOp<string mnemonic, list<Trait> traits = []>
    : Titan_ElementwiseOp<mnemonic, !listconcat([Titan_Broadcasting, Titan_InferType], traits)> {
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let hasFolder = 1;
}

class Titan_BinaryOp<string mnemonic, string function, string formula, list<Trait> traits = []>
    : Titan_BroadcastingOp<mnemonic, traits> {
  let definitions = Titan_InferTypeAs<"joinTypes(operands)">.definitions # [{
    ::mlir::LogicalResult $cppClass::verify() { return verifyBinary(*this); }
  }];
  let summary = function # " of two tensors, matched by dimension names";
  let description = "`" # formula # [{`, element by element. An operand is broadcast along the
    dimensions that it lacks.

    Constraints:
    - (C1) the result's dimensions are the union of the operands' dimensions.
    - (C2) operands and result have the same element type.

    Example: `%z = titan.}] # mnemonic # [{ %x, %w : (!titan.tensor<f32[seq = 8, embed = 4]>,
    !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[seq = 8, embed = 4]>`}];
  let arguments = (ins Titan_Tensor:$lhs, Titan_Tensor:$rhs);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Titan_NegOp : Titan_UnaryOp<"neg", "negation", "-x", [Titan_Exact]> {
  let hasFolder = 1;
}
def Titan_ExpOp : Titan_UnaryOp<"exp", "exponential", "e^x">;
def Titan_LogOp : Titan_UnaryOp<"log", "natural logarithm", "ln x">;
def Titan_SqrtOp : Titan_UnaryOp<"sqrt", "square root", "x^(1/2)">;
def Titan_RsqrtOp : Titan_UnaryOp<"rsqrt", "reciprocal square root", "x^(-1/2)">;
def Titan_TanhOp : Titan_UnaryOp<"tanh", "hyperbolic tangent", "tanh x">;
def Titan_SigmoidOp : Titan_UnaryOp<"sigmoid", "logistic function", "1 / (1 + e^-x)">;
def Titan_ErfOp : Titan_UnaryOp<"erf", "error function",
                                "2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x">;
def Titan_SinOp : Titan_UnaryOp<"sin", "sine", "sin x">;
def Titan_CosOp : Titan_UnaryOp<"cos", "cosine", "cos x">;
def Titan_FloorOp : Titan_UnaryOp<"floor", "greatest integer that is not greater", "floor x">;

def Titan_AddOp : Titan_BinaryOp<"add", "sum", "x + y">;
def Titan_SubOp : Titan_BinaryOp<"sub", "difference", "x - y">;
def Titan_MulOp : Titan_BinaryOp<"mul", "product", "x * y">;
def Titan_DivOp : Titan_BinaryOp<"div", "quotient", "x / y">;
def Titan_MaximumOp : Titan_BinaryOp<"maximum", "greater", "max(x, y)", [Titan_Exact]>;
def Titan_MinimumOp : Titan_BinaryOp<"minimum", "lesser", "min(x, y)", [Titan_Exact]>;

def Titan_PowOp : Titan_BinaryOp<"pow", "power", "x^y">;

def Titan_CompareOp : Titan_BroadcastingOp<"compare"> {
  let summary = "comparison of two tensors, matched by dimension names";
  let description = [{
    Has no gradient.

    Constraints:
    - (C1) the result's dimensions are the union of the operands' dimensions.
    - (C2) the operands have the same element type; the result's is i1.

    Example: `%m = titan.compare ge, %q, %k : (!titan.tensor<i64[seq = 8]>, !titan.tensor<i64[keys = 8]>)
    -> !titan.tensor<i1[seq = 8, keys = 8]>`
  }];
  let arguments = (ins Titan_ComparePredicate:$predicate, Titan_Tensor:$lhs, Titan_Tensor:$rhs);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$predicate `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let definitions = Titan_InferTypeAs<[{
    joinTypes(operands).withElementType(::mlir::IntegerType::get(operands[0].getContext(), 1))
  }]>.definitions;
}

def Titan_SelectOp : Titan_BroadcastingOp<"select", [Titan_Exact]> {
  let summary = "choice between two tensors by a condition, matched by dimension names";
  let description = [{
    Constraints:
    - (C1) the result's dimensions are the union of the operands' dimensions.
    - (C2) the condition is i1; the choices and the result have the same element type.

    Example: `%s = titan.select %mask, %scores, %minus_infinity : (...) -> ...`
  }];
  let arguments = (ins Titan_Tensor:$condition, Titan_Tensor:$whenTrue, Titan_Tensor:$whenFalse);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$condition `,` $whenTrue `,` $whenFalse attr-dict `:` functional-type(operands, results)";
  let definitions = Titan_InferTypeAs<[{
    joinTypes(operands).withElementType(
        ::mlir::cast<NamedTensorType>(operands[1].getType()).getElementType())
  }]>.definitions;
}

def Titan_CastOp : Titan_ElementwiseOp<"cast"> {
  let summary = "conversion of the element type";
  let description = [{
    Floating-point values are rounded to nearest even; booleans become 0 and 1.

    With `round_before_reduce`, the operand may be unreduced: each rank rounds its term, and the reduction
    adds rounded terms in the narrower type. A run with a gradient dtype requests this; otherwise the
    reduction precedes the cast.

    Constraints:
    - (C1) operand and result have the same dimensions, up to sharding.

    Example: `%y = titan.cast %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f64[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, UnitAttr:$roundBeforeReduce);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    (`round_before_reduce` $roundBeforeReduce^)? $input attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Type":$element, CArg<"bool", "false">:$roundBeforeReduce), [{
      auto type = ::mlir::cast<NamedTensorType>(input.getType()).withElementType(element);
      build($_builder, $_state, type, input, roundBeforeReduce);
    }]>
  ];
  let hasFolder = 1;
}

def Titan_ExpandOp : Titan_ElementwiseOp<"expand", [Titan_Exact]> {
  let summary = "broadcast along dimensions that the operand lacks";
  let description = [{
    Constraints:
    - (C1) the operand's dimensions are a subset of the result's.
    - (C2) the element type is the same.

    Example: `%y = titan.expand %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8, embed = 4]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def Titan_CopyOp : Titan_ElementwiseOp<"copy", [Titan_Exact, Titan_InferType]> {
  let summary = "a copy in another allocation";
  let description = [{
    The identity, which is never folded: the result has its own allocation. `--titan-sequentialize-copies`
    inserts copies where a value is read after its memory is overwritten.

    Constraints:
    - (C1) operand and result have the same type, up to sharding.

    Example: `%y = titan.copy %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let definitions = Titan_InferTypeAs<"operands[0].getType()">.definitions;
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Titan_ConstantOp : Titan_ElementwiseOp<"constant", [ConstantLike, Titan_Exact]> {
  let summary = "a scalar constant";
  let description = [{
    The result has no dimensions; elementwise operations broadcast it. The value of a floating-point type
    is an f64, rounded to the element type. The value of an integer or boolean is an exact i64.

    Constraints:
    - (C1) the result has rank 0.
    - (C2) the value is an f64 if the element type is a floating-point type, else an i64; that of a boolean
      is 0 or 1.

    Examples: `%eps = titan.constant 1.0e-05 : !titan.tensor<f32[]>`,
    `%n = titan.constant 9007199254740993 : !titan.tensor<i64[]>`
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Titan_Tensor:$result);
  let builders = [
    /// Of any element type; an integer type takes the integral value of the number.
    OpBuilder<(ins "NamedTensorType":$type, "double":$number)>
  ];
  let assemblyFormat = "custom<ConstantValue>($value) attr-dict `:` type($result)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The value as a floating-point number: large integers are rounded.
    double getNumber();
    /// The exact value of an integer or boolean.
    int64_t getInteger();
  }];
}

def Titan_IotaOp : Titan_ElementwiseOp<"iota"> {
  let summary = "the global index along a dimension";
  let description = [{
    Counts 0, 1, 2, ... along the only dimension of the result. On a mesh, each rank has the global
    indices of its shard.

    Constraints:
    - (C1) the result has rank 1 and element type i64.

    Example: `%positions = titan.iota : !titan.tensor<i64[seq = 8]>`
  }];
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Titan_RandomOp : Titan_ElementwiseOp<"random", [AttrSizedOperandSegments, Titan_Expensive]> {
  let summary = "a tensor of random numbers";
  let description = [{
    `uniform`: multiples of 2^-24 in [0, 1), equal in all element types except for the rounding of bf16,
    which turns the greatest of them into 1. `normal`: mean 0, standard deviation 1. An element is a pure
    function of `stream`, the keys in their order and its row-major global index (Philox;
    base/random/Philox.h). It is therefore equal on every mesh and in every recomputation. Keys are
    integers: the seed of the run, the step, the indices of the enclosing repeats. Has no gradient.

    The result may be a chunk of a longer tensor: `whole` lists the dimensions that are cut, each with its
    size in the uncut tensor, and `starts` the index at which the chunk begins along each of them. The global index is
    that in the uncut tensor, so that a chunk has the same numbers as the whole tensor at these indices.

    Constraints:
    - (C1) the keys have rank 0.
    - (C2) the result is floating-point.
    - (C3) every start is an i64 of rank 0, and there is one for each dimension of `whole`.
    - (C4) the dimensions of `whole` are different dimensions of the result, and no smaller than in the result.

    Examples: `%u = titan.random uniform "h.0" keys(%seed, %step, %layer) :
    (!titan.tensor<i64[]>, !titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8]>`,
    `%c = titan.random uniform "h.0" keys(%seed) from(%start) of [#titan.dim<seq = 8>] :
    (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 2]>`
  }];
  let arguments = (ins Titan_RandomKind:$kind, StrAttr:$stream, Variadic<Titan_Tensor>:$keys,
                       Variadic<Titan_Tensor>:$starts, DefaultValuedAttr<Titan_DimsAttr, "{}">:$whole);
  let results = (outs Titan_Tensor:$result);
  let builders = [OpBuilder<(ins "NamedTensorType":$type, "RandomKind":$kind, "::llvm::StringRef":$stream,
                                 "::mlir::ValueRange":$keys), [{
    build($_builder, $_state, type, kind, stream, keys, /*starts=*/{}, $_builder.getArrayAttr({}));
  }]>];
  let assemblyFormat = [{
    $kind $stream `keys` `(` $keys `)` (`from` `(` $starts^ `)` `of` $whole)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The shape of the uncut tensor, by whose row-major indices the numbers are counted.
    ::llvm::SmallVector<int64_t> getWholeShape();
    /// The elements of the uncut tensor between neighbours along the dimension of start `index`.
    int64_t getStartStride(unsigned index);
  }];
}

def Titan_ApplyOp : Titan_ElementwiseOp<"apply", [Titan_Expensive,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a scalar function of every element";
  let description = [{
    Calls a `titan.scalar_function` with the elements of the operands at one index, for every index. An
    operand of rank 0 is the same at every index. Several results are computed in one loop, and each may
    overwrite an operand: one operation updates a parameter and its optimizer states.

    Constraints:
    - (C1) operands and results have the same dimensions, but for operands of rank 0.
    - (C2) their element types are those of the function's arguments and results.

    Example: `%p1, %m1 = titan.apply @momentum(%p, %g, %m, %lr) : (...) -> (...)`
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Variadic<Titan_Tensor>:$inputs);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let assemblyFormat = "$function `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
  let extraClassDeclaration = [{
    /// The function that is applied.
    ScalarFunctionOp getCallee();
  }];
}

#endif // TITAN_ELEMENTWISE_OPS_TD
