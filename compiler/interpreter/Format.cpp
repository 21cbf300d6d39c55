// Prints numbers.

#include "compiler/interpreter/Format.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace titan;
using ir::HostTensor;

std::string interpreter::format(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", value);
  return text;
}

/// Formats the elements from `at` on along the dimensions from `dim` on; advances `at`.
static void formatFrom(const HostTensor &tensor, size_t dim, size_t &at, std::string &text) {
  if (dim == tensor.shape.size()) {
    text += interpreter::format(tensor.data[at++]);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    text += i ? ", " : "";
    formatFrom(tensor, dim + 1, at, text);
  }
  text += ']';
}

std::string interpreter::format(const HostTensor &tensor) {
  std::string text;
  size_t at = 0;
  formatFrom(tensor, 0, at, text);
  return text;
}
