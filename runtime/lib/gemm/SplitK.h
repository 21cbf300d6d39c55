// Products whose depth is so great that the sums over it would lose digits: a kernel adds up some
// 400 terms and then these sums, one after the other, in float. Here at most kMaxDepth terms are
// left to a kernel, and its sums are added in double, for a block of C at a time. Their memory is
// the calling thread's (ThreadScratch.h); a product of usual depth goes to the kernel as it is.
#pragma once

#include "Grid.h"
#include "Operands.h"
#include "threads/ThreadScratch.h"

#include "titan/runtime/kernel_loops.h"

#include <algorithm>
#include <omp.h>

namespace titan::rt {

/// Terms whose sum a kernel makes.
constexpr int64_t kMaxDepth = 8192;

/// Of C, what is summed at once.
struct SplitK {
  static constexpr int64_t kRows = 1024, kColumns = 1024;
};

/// C = A B, or that added to C, by multiply(rows, columns, sums, ld): the product of some rows of
/// either operand and at most `most` terms of their depth, into floats.
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
      Slice left{rows.begin(row), rows.sizeOf(row), 0, 0};
      Slice right{columns.begin(column), columns.sizeOf(column), 0, 0};
      // Within a parallel region, libgomp would ask for memory for a team of one thread.
      const int64_t work = omp_in_parallel() ? 0 : left.rows * right.rows;
      for (int64_t at = 0; at < depth.blocks; ++at) {
        left.firstK = right.firstK = depth.begin(at);
        left.kCount = right.kCount = depth.sizeOf(at);
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

/// Whether a product is better made so.
inline bool needsSplitK(const Extents &e, int64_t most = kMaxDepth) {
  return e.k > 2 * most;
}

} // namespace titan::rt
