// Scalar functions as statements.
//
// The operations of a `titan.scalar_function` as expressions of C++. Each becomes a constant with a
// name, except constants and short expressions with one use.
#pragma once

#include "compiler/emission/Writer.h"
#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/DenseMap.h"

namespace titan::emission {

/// The C++ type of an element in a register.
std::string getType(mlir::Value value);
/// Whether the elements are bf16: computed as float and rounded.
bool isNarrow(mlir::Value value);
/// Whether the result is one of the operands, or has no more digits than they have.
bool isExact(mlir::Operation *op);
/// `text` without parentheses around all of it.
llvm::StringRef stripParentheses(llvm::StringRef text);

/// Longer expressions become constants, so that emitted lines stay readable.
inline constexpr size_t kMaxInlineLength = 100;

/// Expressions by value.
using Expressions = llvm::DenseMap<mlir::Value, std::string>;

/// The steps that become constants: long expressions and those with several uses, or all.
enum class NamedSteps : uint8_t { Long, All };

/// Adds the expression of every result to `known`, which holds the expressions of the arguments.
/// `define` writes a constant and returns its name.
void emitSteps(ir::ScalarFunctionOp function, Expressions &known,
               llvm::function_ref<std::string(mlir::Value, llvm::StringRef)> define,
               NamedSteps named = NamedSteps::Long);

/// Writes `double NAME(const double *x)`: the result of a scalar function of numbers in f64.
void emitHostFunction(ir::ScalarFunctionOp function, llvm::StringRef name, Writer &out);

} // namespace titan::emission
