// Products whose depth is so great that the sums over it would lose digits: a kernel adds up some
// 400 terms and then these sums, one after the other, in float. Here at most kMostDepth terms are
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
constexpr int64_t kMostDepth = 8192;

/// Of C, what is summed at once.
struct LongDepth {
  static constexpr int64_t kRows = 1024, kColumns = 1024;
};

/// C = A B, or that added to C, by multiply(rows, columns, sums, ld): the product of some rows of
/// either operand and at most `most` terms of their depth, into floats.
template <typename To, typename Multiply>
void multiplyByDepth(const Extents &e, const Destination<To> &c, Multiply &&multiply,
                     int64_t most = kMostDepth) {
  const Cut depth(e.k, most, 32), rows(e.m, LongDepth::kRows, 32),
      columns(e.n, LongDepth::kColumns, 32);
  const int64_t ld = std::min(columns.size, e.n), elements = std::min(rows.size, e.m) * ld;
  const size_t bytes = ThreadScratch::roundUp(static_cast<size_t>(elements) * sizeof(double)) +
                       ThreadScratch::roundUp(static_cast<size_t>(elements) * sizeof(float));
  ThreadScratch &scratch = ThreadScratch::ofThread<LongDepth>(bytes);
  double *total = scratch.take<double>(elements);
  float *part = scratch.take<float>(elements);
  for (int64_t row = 0; row < rows.parts; ++row)
    for (int64_t column = 0; column < columns.parts; ++column) {
      Slice left{rows.begin(row), rows.sizeOf(row), 0, 0};
      Slice right{columns.begin(column), columns.sizeOf(column), 0, 0};
      // Within a parallel region, libgomp would ask for memory for a team of one thread.
      const int64_t work = omp_in_parallel() ? 0 : left.lines * right.lines;
      for (int64_t at = 0; at < depth.parts; ++at) {
        left.depth = right.depth = depth.begin(at);
        left.depths = right.depths = depth.sizeOf(at);
        multiply(left, right, part, ld);
        tm::detail::share(left.lines, work, [&](int64_t i) {
#pragma omp simd
          for (int64_t j = 0; j < right.lines; ++j)
            total[i * ld + j] = (at > 0 ? total[i * ld + j] : 0) + part[i * ld + j];
        });
      }
      const Destination<To> to = c.at(left.line, right.line);
      tm::detail::share(left.lines, work, [&](int64_t i) {
        To *line = to.to + i * to.ld;
        for (int64_t j = 0; j < right.lines; ++j)
          line[j] = static_cast<float>(total[i * ld + j]) + (to.adds ? float(line[j]) : 0.0F);
      });
    }
}

/// Whether a product is better made so.
inline bool isDeep(const Extents &e, int64_t most = kMostDepth) {
  return e.k > 2 * most;
}

} // namespace titan::rt
