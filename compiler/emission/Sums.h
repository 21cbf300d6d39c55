//===- Sums.h - Sums in emitted loops ---------------------------*- C++ -*-===//
//
// How emitted loops add many terms: in blocks, whose sums are added in double, so that the error
// does not grow with the number of terms (runtime/include/titan/runtime/blocked_sum.h). This
// file emits the sum of one scalar over an innermost loop. `tm::ColumnSums` adds several columns at
// once, and `tm::Sum` is the accumulator of one device thread.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_SUMS_H
#define TITAN_COMPILER_EMISSION_SUMS_H

#include "compiler/emission/Loops.h"
#include "compiler/emission/Writer.h"

namespace titan::emission {

/// A sum: the total's name, the name of a block's sum, and the terms' C++ type.
struct SumNames {
  std::string total, block, type;
};

/// True if the order of additions matters: sums of numbers that are rounded.
inline bool isRounded(llvm::StringRef type) {
  return type == "float" || type == "double";
}

/// True if sums over all of `count` indices may be made without blocks: so few are known to be
/// there.
bool areFewTerms(const SizeExpr &count);

/// True if a scalar that a nest of these loops sums needs blocks: the innermost loop is long, or it
/// is run several times.
bool needsBlocks(llvm::ArrayRef<Loop> loops);

/// Before and after the innermost loop of such a nest, which `openBlock` opens: blocks of it, each
/// with sums of its own.
void openBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums);
void openBlock(Writer &out, const Loop &inner);
void closeBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums);

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_SUMS_H
