// Conversions from this runtime's types to those of c10d. Only transports over c10d include this
// header, because LibTorch's headers add ten seconds to the compilation of a file.
#pragma once

#include "titan/runtime/program.h"

#include <exception>
#include <string>

#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace titan::rt {

inline at::ScalarType scalarType(DType type) {
  switch (type) {
  case DType::F32:
    return at::kFloat;
  case DType::F64:
    return at::kDouble;
  case DType::BF16:
    return at::kBFloat16;
  case DType::I64:
    return at::kLong;
  case DType::Bool:
    return at::kBool;
  }
  return at::kFloat;
}

inline c10d::ReduceOp::RedOpType reduction(Reduction op) {
  switch (op) {
  case Reduction::Sum:
    return c10d::ReduceOp::SUM;
  case Reduction::Max:
    return c10d::ReduceOp::MAX;
  case Reduction::Min:
    return c10d::ReduceOp::MIN;
  }
  return c10d::ReduceOp::SUM;
}

/// The first line of an exception's message. LibTorch appends a C++ stack trace.
inline std::string firstLine(const std::exception &error) {
  std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

} // namespace titan::rt
