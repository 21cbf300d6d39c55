// The blocking follows K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008: one packed panel of A stays in L1, a packed block of B in L2. All threads
// pack, then all multiply. On vectors each thread packs its own columns of B, because the L2 of
// another core would hold shared ones.
#include "BlockedGemm.h"

#include "Amx.h"
#include "Grid.h"
#include "KernelPolicy.h"
#include "Request.h"
#include "threads/Team.h"
#include "threads/ThreadScratch.h"

#include <algorithm>
#include <omp.h>

namespace titan::rt {

namespace {

/// One GEMM; every thread of the team runs all its phases.
template <typename Policy, typename To> class BlockedProduct {
  using Operand = OperandOf<typename Policy::Element>;
  using Packed = typename Policy::Packed;

public:
  BlockedProduct(const typename Policy::Unit &unit, const Operand &a, const Operand &b,
                 const Extents &e, const Destination<To> &c)
      : policy(unit, a, e), a(a), b(b), c(c), depth(e.k, policy.depth, Policy::kStep),
        rows(e.m, Policy::rows, policy.panelRows),
        columns(e.n,
                Policy::hasSharedRight || hasSums() ? Policy::columns : std::max<int64_t>(1, e.n),
                Policy::panelColumns) {
    const int64_t panelsA = policy.packsLeft ? rows.size / policy.panelRows : 0;
    const int64_t elementsA = panelsA * policy.leftElements(depth.size);
    const int64_t elementsB = sharedElements();
    const int64_t elementsSums = hasSums() ? rows.size * columns.size : 0;
    const auto bytes = static_cast<size_t>(elementsA + elementsB) * sizeof(Packed);
    ThreadScratch &scratch = ThreadScratch::ofThread(
        ThreadScratch::roundUp(bytes) + static_cast<size_t>(elementsSums) * sizeof(float));
    packedA = scratch.take<Packed>(elementsA + elementsB);
    packedB = packedA + elementsA;
    sums = scratch.take<float>(elementsSums);
  }

  /// Computes the product. The loop over blocks of k is the outermost if C holds partial sums, and
  /// the innermost if the sums of a block of C hold them.
  void run(Team team) const {
    // Also by a thread that finds no tile left: it then need not allocate in a later product.
    Packed *const packBuffer = takePackBuffer();
    for (int64_t outerDepth = 0; outerDepth < (hasSums() ? 1 : depth.blocks); ++outerDepth)
      for (int64_t row = 0; row < rows.blocks; ++row)
        for (int64_t column = 0; column < columns.blocks; ++column)
          if (hasSums())
            for (int64_t depthBlock = 0; depthBlock < depth.blocks; ++depthBlock)
              addBlock(team, packBuffer, row, column, depthBlock, /*packsLeft=*/true);
          else
            addBlock(team, packBuffer, row, column, outerDepth, /*packsLeft=*/column == 0);
  }

private:
  /// Whether partial sums must stay unrounded.
  bool hasSums() const { return !std::is_same_v<To, float> && depth.blocks > 1; }

  int64_t sharedElements() const {
    if constexpr (Policy::hasSharedRight)
      return columns.size / Policy::panelColumns * Policy::rightElements(depth.size);
    return 0;
  }

  /// Where the calling thread packs columns that it does not share.
  Packed *takePackBuffer() const {
    if constexpr (Policy::hasSharedRight)
      return nullptr;
    else {
      const int64_t elements = policy.packBufferElements(depth.size);
      const auto bytes = static_cast<size_t>(elements) * sizeof(Packed);
      return ThreadScratch::ofThread<Policy>(bytes).template take<Packed>(elements);
    }
  }

  /// Adds one block of k to block (row, column) of C. Packs the block of A if `packsLeft`; else the
  /// previous call has packed it.
  void addBlock(Team &team, Packed *packBuffer, int64_t row, int64_t column, int64_t depthBlock,
                bool packsLeft) const {
    const int64_t begin = depth.begin(depthBlock), kCount = depth.getBlockSize(depthBlock);
    const Slice left{rows.begin(row), rows.getBlockSize(row), begin, kCount};
    const Slice right{columns.begin(column), columns.getBlockSize(column), begin, kCount};
    pack(team, left, packsLeft, right);
    Destination<To> to = c.at(left.firstRow, right.firstRow);
    if (!hasSums()) {
      to.adds |= depthBlock > 0;
      multiply(team, packBuffer, left, right, to);
    } else if (depthBlock + 1 < depth.blocks) {
      multiply(team, packBuffer, left, right,
               Destination<float>{sums, columns.size, depthBlock > 0});
    } else {
      to.sums = sums;
      to.ldSums = columns.size;
      multiply(team, packBuffer, left, right, to);
    }
  }

  /// Panels of an operand that one task packs: several, because a cache line of an operand that is
  /// not K-major may contain rows of three panels. There are about four tasks for each thread.
  struct PackTasks {
    PackTasks(const Slice &all, int64_t rows, int64_t threads)
        : all(all), rows(rows), panels(quotient(all.rows, rows)),
          atOnce(std::clamp<int64_t>(panels / (4 * threads), 1, 16)) {}
    int64_t count() const { return quotient(panels, atOnce); }
    int64_t firstPanel(int64_t index) const { return index * atOnce; }
    Slice operator[](int64_t index) const {
      const int64_t first = index * atOnce * rows;
      return {all.firstRow + first, std::min(atOnce * rows, all.rows - first), all.firstK,
              all.kCount};
    }
    const Slice &all;
    int64_t rows, panels, atOnce;
  };

  void pack(Team &team, const Slice &left, bool packsLeft, const Slice &right) const {
    const PackTasks tasksA(left, policy.panelRows, team.size());
    const PackTasks tasksB(right, Policy::panelColumns, team.size());
    const int64_t countA = packsLeft && policy.packsLeft ? tasksA.count() : 0;
    if (!Policy::hasSharedRight && countA == 0)
      return;
    team.parallelFor(countA + (Policy::hasSharedRight ? tasksB.count() : 0), [&](int64_t index) {
      if (index < countA)
        return policy.packLeft(a, tasksA[index],
                               packedA +
                                   tasksA.firstPanel(index) * policy.leftElements(left.kCount));
      if constexpr (Policy::hasSharedRight)
        policy.packRight(b, tasksB[index - countA],
                         packedB +
                             tasksB.firstPanel(index - countA) * policy.rightElements(left.kCount));
    });
  }

  template <typename Sum>
  void multiply(Team &team, Packed *packBuffer, const Slice &left, const Slice &right,
                const Destination<Sum> &to) const {
    const Grid grid = policy.partition(left.rows, right.rows, team.size());
    const int64_t down = grid.tiles / grid.columns;
    int64_t packedColumn = -1; // the columns that this thread packed last
    team.parallelFor(grid.tiles, [&](int64_t index) {
      const int64_t row = index % down * grid.height;
      const int64_t column = index / down * grid.width;
      Slice rowsOf = left, columnsOf = right;
      rowsOf.firstRow += row;
      rowsOf.rows = std::min(grid.height, left.rows - row);
      columnsOf.firstRow += column;
      columnsOf.rows = std::min(grid.width, right.rows - column);
      const Packed *panels = nullptr;
      if (policy.packsLeft)
        panels = packedA + row / policy.panelRows * policy.leftElements(left.kCount);
      Packed *columns = packBuffer;
      if constexpr (Policy::hasSharedRight)
        columns = packedB + column / Policy::panelColumns * Policy::rightElements(left.kCount);
      policy.multiply(a, rowsOf, panels, b, columnsOf, columns, packedColumn == column,
                      to.at(row, column));
      packedColumn = column;
    });
  }

  const Policy policy;
  const Operand a, b;
  const Destination<To> c;
  const Blocking depth, rows, columns; // cache blocks
  Packed *packedA, *packedB;           // panels
  float *sums;                         // of a block of C
};

/// Each thread computes its own columns: with few rows, packing them is cheaper than a barrier.
template <typename Policy, typename To>
void multiplyByColumns(const typename Policy::Unit &unit,
                       const OperandOf<typename Policy::Element> &a,
                       const OperandOf<typename Policy::Element> &b, const Extents &e,
                       const Destination<To> &c, int threads) {
  const Blocking columns(e.n, quotient(e.n, threads), Policy::panelColumns);
#pragma omp parallel for schedule(static)
  for (int64_t index = 0; index < columns.blocks; ++index) {
    const int64_t column = columns.begin(index), count = columns.getBlockSize(index);
    if (count > 0)
      BlockedProduct<Policy, To>(unit, a, b.from(column), {e.m, count, e.k}, c.at(0, column))
          .run({});
  }
}

template <typename Policy, typename To>
void multiply(const typename Policy::Unit &unit, const OperandOf<typename Policy::Element> &a,
              const OperandOf<typename Policy::Element> &b, const Extents &e,
              const Destination<To> &c) {
  if (e.n == 1 && e.m > 1 && c.ld == 1) // A column with stride 1 is a row.
    return multiply<Policy>(unit, b, a, Extents{1, e.m, e.k}, Destination<To>{c.to, e.m, c.adds});
  // Fewer than 2^18 multiplications cost less than the start of a team.
  const bool isShared = !omp_in_parallel() && e.m * e.n * e.k >= int64_t{1} << 18;
  const int threads = isShared ? omp_get_max_threads() : 1;
  if (threads == 1) // libgomp would allocate a team of one thread
    return BlockedProduct<Policy, To>(unit, a, b, e, c).run({});
  if constexpr (!Policy::hasSharedRight)
    if (!Policy::hasManyRows(e))
      return multiplyByColumns<Policy>(unit, a, b, e, c, threads);
  const BlockedProduct<Policy, To> product(unit, a, b, e, c);
  WorkQueues queues;
#pragma omp parallel
  product.run(Team(queues, omp_get_num_threads(), omp_get_thread_num()));
}

} // namespace

FloatBackend chooseFloatBackend(const Extents &e) {
  if (isBlasForced())
    return FloatBackend::Blas;
  // Packing an operand costs as much as multiplying it by about 50 rows. Register tiles at the
  // edges of a smaller product are half empty (measured against MKL, see
  // docs/rationale/kernels.md).
  constexpr int64_t fewest = 128, shallowest = 64;
  if (amx::isAvailable() && std::min(e.m, e.n) >= fewest && e.k >= shallowest)
    return FloatBackend::Amx;
  return floatVectors() ? FloatBackend::Vectors : FloatBackend::Blas;
}

void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c) {
  multiply<AmxFloatPolicy>({}, a, b, extents, c);
}

void multiplyOnVectors(const FloatVectors &unit, const FloatOperand &a, const FloatOperand &b,
                       const Extents &extents, const Destination<float> &c) {
  multiply<VectorPolicy<float, float, FloatVectors>>(unit, a, b, extents, c);
}

template <typename P, typename To>
void multiplyOnVectors(const Bfloat16Vectors<P> &unit, const Bfloat16Operand &a,
                       const Bfloat16Operand &b, const Extents &extents, const Destination<To> &c) {
  multiply<VectorPolicy<uint16_t, P, Bfloat16Vectors<P>>>(unit, a, b, extents, c);
}

template void multiplyOnVectors(const Bfloat16Vectors<float> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<float> &);
template void multiplyOnVectors(const Bfloat16Vectors<float> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<bf16> &);
template void multiplyOnVectors(const Bfloat16Vectors<uint32_t> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<float> &);
template void multiplyOnVectors(const Bfloat16Vectors<uint32_t> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<bf16> &);

} // namespace titan::rt
