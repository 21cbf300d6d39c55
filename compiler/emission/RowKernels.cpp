// Rows on a device.
//
// The nests of Rows.cpp as CUDA kernels. A block of threads computes a row and divides its inner
// loops. Each thread sums a reduction, and the block combines the sums in a fixed order.

#include "compiler/emission/Rows.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

void RowNest::emitDevice() {
  bool reduces = llvm::any_of(ops, [](Operation *op) { return isa<ReduceOp>(op); });
  isElementKernel = inners.size() == 1 && !reduces;
  if (isElementKernel) {
    // Rows and inner dimensions form one index space.
    SmallVector<Loop> loops = makeLoops(inners[0].space, getAccesses(inners[0]));
    nameLoops(loops, rowLoops.size() == 1 ? 0 : rowLoops.size());
    SmallVector<Loop> all = rowLoops;
    llvm::append_range(all, loops);
    openKernel(text, all);
    emitRowScalars();
    emitInner(0);
    return closeKernel(text);
  }
  isRowKernel = true;
  openRowKernel(text, rowLoops);
  emitRowScalars();
  text.line("__syncthreads();");
  for (unsigned i = 0; i < inners.size(); ++i)
    emitInner(i);
  closeKernel(text);
  isRowKernel = false;
}

void RowNest::openDeviceLoops(const Inner &inner, ArrayRef<Loop> loops) {
  if (isElementKernel)
    return;
  // The following code reads values that other threads wrote in this row.
  text.line("__syncthreads();");
  if (loops.empty())
    return;
  const Loop &last = loops.back();
  // Elements of a buffer that are sums may be shared between threads only where they differ.
  bool isSerial = llvm::any_of(inner.ops, [&](Operation *op) {
    auto access = isa<ReduceOp>(op) ? accesses.find(op->getResult(0)) : accesses.end();
    return access != accesses.end() && !access->second.strides.count(last.getKey());
  });
  openBlockLoops(loops, isSerial);
}

void RowNest::openBlockLoops(ArrayRef<Loop> loops, bool isSerial) {
  openLoops(text, loops.drop_back());
  const Loop &last = loops.back();
  std::string first = isSerial ? "threadIdx.x == 0 ? 0 : " + last.size.str() : "threadIdx.x";
  text.open("for (int64_t " + last.variable + " = " + first + "; " + last.variable + " < " +
            last.size.str() + "; " + last.variable + " += " + (isSerial ? "1" : "blockDim.x") +
            ")");
}

void RowNest::openSums(ArrayRef<Loop> loops) {
  if (!isRowKernel)
    return openLoops(text, loops);
  // Threads may still read the old content of the result.
  text.line("__syncthreads();");
  if (loops.empty())
    return text.open("if (threadIdx.x == 0)");
  openBlockLoops(loops, /*isSerial=*/false);
}

void RowNest::closeSums(ArrayRef<Loop> loops) {
  closeLoops(text, loops);
  if (isRowKernel && loops.empty())
    text.close();
}
