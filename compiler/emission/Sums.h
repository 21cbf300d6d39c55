// Emits sums in loops.
//
// Long sums in emitted loops are computed in blocks, whose sums are added in double, so the error
// does not grow with the number of terms (runtime/include/titan/runtime/blocked_sum.h). This file
// emits the sum of one scalar over an innermost loop. `tm::ColumnSums` sums several columns at
// once, and `tm::Sum` is the accumulator of one device thread.
#pragma once

#include "compiler/emission/Loops.h"
#include "compiler/emission/Writer.h"

namespace titan::emission {

/// A sum: the name of the total, the name of the sum of a block, and the C++ type of the terms.
struct SumNames {
  std::string total, block, type;
};

/// Whether the order of additions matters: sums of rounded numbers.
inline bool isRounded(llvm::StringRef type) {
  return type == "float" || type == "double";
}

/// Whether sums over `count` indices need no blocks, because few terms are known to exist.
bool areFewTerms(const SizeExpr &count);

/// Whether a scalar sum over these loops needs blocks: the innermost loop is long, or runs several
/// times.
bool needsBlocks(llvm::ArrayRef<Loop> loops);

/// Code before and after the innermost loop of such a nest, which `openBlock` opens: blocks with
/// their own sums.
void openBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums);
void openBlock(Writer &out, const Loop &inner);
void closeBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums);

} // namespace titan::emission
