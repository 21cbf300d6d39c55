// Scalar functions as values and as text.
//
// One struct per function of one element: `value` computes it, for the interpreter, and `text` is
// its expression in emitted C++ and CUDA. In a text, `$0`, `$1`, ... are the operands and `$T` is
// the scalar type (ScalarText.h); `tm` is the namespace of titan/runtime/kernel_math.h.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

namespace titan::ir::formulas {

using In = llvm::ArrayRef<double>;
using llvm::StringLiteral;

struct Identity {
  static double value(In x) { return x[0]; }
  static constexpr StringLiteral text = "$0";
};
struct Neg {
  static double value(In x) { return -x[0]; }
  static constexpr StringLiteral text = "(-$0)";
};
struct Exp {
  static double value(In x) { return std::exp(x[0]); }
  static constexpr StringLiteral text = "tm::exp($0)";
};
struct Log {
  static double value(In x) { return std::log(x[0]); }
  static constexpr StringLiteral text = "tm::log($0)";
};
struct Sqrt {
  static double value(In x) { return std::sqrt(x[0]); }
  static constexpr StringLiteral text = "tm::sqrt($0)";
};
struct Rsqrt {
  static double value(In x) { return 1.0 / std::sqrt(x[0]); }
  static constexpr StringLiteral text = "tm::rsqrt($0)";
};
struct Tanh {
  static double value(In x) { return std::tanh(x[0]); }
  static constexpr StringLiteral text = "tm::tanh($0)";
};
struct Sigmoid {
  static double value(In x) { return 1.0 / (1.0 + std::exp(-x[0])); }
  static constexpr StringLiteral text = "tm::sigmoid($0)";
};
struct Erf {
  static double value(In x) { return std::erf(x[0]); }
  static constexpr StringLiteral text = "tm::erf($0)";
};
struct Sin {
  static double value(In x) { return std::sin(x[0]); }
  static constexpr StringLiteral text = "tm::sin($0)";
};
struct Cos {
  static double value(In x) { return std::cos(x[0]); }
  static constexpr StringLiteral text = "tm::cos($0)";
};
struct Floor {
  static double value(In x) { return std::floor(x[0]); }
  static constexpr StringLiteral text = "tm::floor($0)";
};
struct Add {
  static double value(In x) { return x[0] + x[1]; }
  static constexpr StringLiteral text = "($0 + $1)";
};
struct Sub {
  static double value(In x) { return x[0] - x[1]; }
  static constexpr StringLiteral text = "($0 - $1)";
};
struct Mul {
  static double value(In x) { return x[0] * x[1]; }
  static constexpr StringLiteral text = "($0 * $1)";
};
struct Div {
  static double value(In x) { return x[0] / x[1]; }
  static constexpr StringLiteral text = "($0 / $1)";
};
/// Computed in double whatever the element type is.
struct Pow {
  static double value(In x) { return std::pow(x[0], x[1]); }
  static constexpr StringLiteral text = "$T(tm::pow($0, $1))";
};
/// NaN propagates, as in IEEE 754-2019 `maximum`: dropping it would hide an error of the program.
struct Maximum {
  static double value(In x) { return x[0] > x[1] || std::isnan(x[0]) ? x[0] : x[1]; }
  static constexpr StringLiteral text = "tm::max($0, $1)";
};
struct Minimum {
  static double value(In x) { return x[0] < x[1] || std::isnan(x[0]) ? x[0] : x[1]; }
  static constexpr StringLiteral text = "tm::min($0, $1)";
};
struct Select {
  static double value(In x) { return x[0] != 0 ? x[1] : x[2]; }
  static constexpr StringLiteral text = "($0 ? $1 : $2)";
};

} // namespace titan::ir::formulas
