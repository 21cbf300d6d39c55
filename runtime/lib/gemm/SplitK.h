// Split-K for GEMMs whose sums would lose digits in float: a kernel sums about 400 terms and adds
// these sums in float. Here a kernel sums at most kMaxDepth terms, and its results are added in
// double, one block of C at a time. Scratch belongs to the calling thread (ThreadScratch.h). A GEMM
// of at most twice that depth calls the kernel directly.
#pragma once

#include "Grid.h"
#include "Operands.h"
#include "threads/ThreadScratch.h"

#include "titan/runtime/kernel_loops.h"

#include <algorithm>
#include <omp.h>

namespace titan::rt {

/// The largest number of terms that one kernel call sums.
constexpr int64_t kMaxDepth = 8192;

/// The largest block of C.
struct SplitK {
  static constexpr int64_t kRows = 1024, kColumns = 1024;
};

/// C = A B (or +=) by multiply(rows, columns, sums, ld), which computes the product of some rows
/// and columns over at most `most` terms into floats.
template <typename To, typename Multiply>
void multiplySplitK(const Extents &e, const Destination<To> &c, Multiply &&multiply,
                    int64_t most = kMaxDepth) {
  const Blocking depth(e.k, most, 32), rows(e.m, SplitK::kRows, 32),
      columns(e.n, SplitK::kColumns, 32);
  const int64_t ld = std::min(columns.size, e.n), elements = std::min(rows.size, e.m) * ld;
  const size_t bytes = ThreadScratch::roundUp(static_cast<size_t>(elements) * sizeof(double)) +
                       ThreadScratch::roundUp(static_cast<size_t>(elements) * sizeof(float));
  ThreadScratch &scratch = ThreadScratch::ofThread<SplitK>(bytes);
  double *total = scratch.take<double>(elements);
  float *partial = scratch.take<float>(elements);
  for (int64_t row = 0; row < rows.blocks; ++row)
    for (int64_t column = 0; column < columns.blocks; ++column) {
      Slice left{rows.begin(row), rows.getBlockSize(row), 0, 0};
      Slice right{columns.begin(column), columns.getBlockSize(column), 0, 0};
      // In a parallel region, libgomp would allocate a team of one thread.
      const int64_t work = omp_in_parallel() ? 0 : left.rows * right.rows;
      for (int64_t at = 0; at < depth.blocks; ++at) {
        left.firstK = right.firstK = depth.begin(at);
        left.kCount = right.kCount = depth.getBlockSize(at);
        multiply(left, right, partial, ld);
        tm::detail::parallelFor(left.rows, work, [&](int64_t i) {
#pragma omp simd
          for (int64_t j = 0; j < right.rows; ++j)
            total[i * ld + j] = (at > 0 ? total[i * ld + j] : 0) + partial[i * ld + j];
        });
      }
      const Destination<To> to = c.at(left.firstRow, right.firstRow);
      tm::detail::parallelFor(left.rows, work, [&](int64_t i) {
        To *outRow = to.to + i * to.ld;
        for (int64_t j = 0; j < right.rows; ++j)
          outRow[j] = static_cast<float>(total[i * ld + j]) + (to.adds ? float(outRow[j]) : 0.0F);
      });
    }
}

/// Whether a GEMM needs split-K.
inline bool needsSplitK(const Extents &e, int64_t most = kMaxDepth) {
  return e.k > 2 * most;
}

} // namespace titan::rt
