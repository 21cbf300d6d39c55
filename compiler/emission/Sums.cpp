// Emits sums in loops.

#include "compiler/emission/Sums.h"

#include "base/kernels/SumBlocks.h"

using namespace titan;
using namespace titan::emission;

static bool isAtMost(const SizeExpr &size, int64_t most) {
  std::optional<int64_t> value = size.getValue();
  return value && *value <= most;
}

bool emission::areFewTerms(const SizeExpr &count) {
  return isAtMost(count, kSumBlock);
}

static bool isOneBlock(const Loop &inner) {
  return isAtMost(inner.size, kMinLaneBlock);
}

bool emission::needsBlocks(llvm::ArrayRef<Loop> loops) {
  return loops.size() > 1 || (loops.size() == 1 && !isOneBlock(loops[0]));
}

void emission::openBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums) {
  std::string start = inner.variable + "0", size = inner.size.str();
  if (!isOneBlock(inner))
    out.open("for (int64_t " + start + " = 0; " + start + " < " + size + "; " + start +
             " += tm::kLaneBlock)");
  for (const SumNames &sum : sums)
    out.line(sum.type + " " + sum.block + " = 0;");
}

void emission::openBlock(Writer &out, const Loop &inner) {
  std::string start = inner.variable + "0",
              end = "tm::blockEnd(" + start + ", " + inner.size.str() + ")";
  if (isOneBlock(inner))
    start = "0", end = inner.size.str();
  out.open("for (int64_t " + inner.variable + " = " + start + "; " + inner.variable + " < " + end +
           "; ++" + inner.variable + ")");
}

void emission::closeBlocks(Writer &out, const Loop &inner, llvm::ArrayRef<SumNames> sums) {
  out.close();
  for (const SumNames &sum : sums)
    out.line(sum.total + " += " + sum.block + ";");
  if (!isOneBlock(inner))
    out.close();
}
