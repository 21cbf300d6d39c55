// The bf16 products of attention, on every unit of this processor.
#include "gemm/MatrixUnit.h"
#include "gemm/Amx.h"
#include "gemm/VectorUnit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

bool hasPairs() {
#if defined(__x86_64__)
  return hasVectors512() && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

/// Vector-aligned memory of NaNs, which spoil every sum that reads them.
template <typename T> class Aligned {
public:
  explicit Aligned(int64_t count)
      : block(static_cast<T *>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64))) {
    std::memset(block.get(), 0xff, count * sizeof(T));
  }
  T *get() const { return block.get(); }
  T &operator[](int64_t i) const { return block.get()[i]; }

private:
  struct Free {
    void operator()(T *memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> block;
};

float fraction(int64_t i) {
  return static_cast<float>(i * 7919 % 1999) / 999 - 1;
}

/// A matrix with its own memory. If `along`, its rows are contiguous, else its columns.
struct Matrix {
  Matrix(int64_t rows, int64_t depth, bool along, int64_t seed)
      : along(along), ld(along ? depth : rows) {
    for (int64_t i = 0; i < rows * depth; ++i)
      values.push_back(fraction(i + seed));
  }
  float at(int64_t row, int64_t deep) const {
    return values[along ? row * ld + deep : deep * ld + row];
  }
  Bfloat16Operand operand() const {
    return {reinterpret_cast<const uint16_t *>(values.data()), ld, along};
  }
  bool along;
  int64_t ld;
  std::vector<bf16> values;
};

int64_t packedElements(int64_t rows, int64_t depth) {
  return unitPanels(rows) * unitPanels(depth) * kUnitBlockElements;
}

class OnEachUnit : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    const bool isTiles = GetParam() == std::string("tiles");
    if (!(isTiles ? amx::isAvailable() : hasPairs()))
      GTEST_SKIP() << "not of this processor";
    unit = isTiles ? amx::matrixUnit() : avx512::matrixUnit();
    unit->begin();
  }
  void TearDown() override {
    if (unit)
      unit->end();
  }

  Aligned<uint16_t> packedLeft(const Matrix &from, int64_t rows, int64_t depth) const {
    Aligned<uint16_t> to(packedElements(rows, depth));
    unit->packLeft(from.operand(), rows, depth, to.get());
    return to;
  }
  Aligned<uint16_t> packedRight(const Matrix &from, int64_t rows, int64_t depth) const {
    Aligned<uint16_t> to(packedElements(rows, depth));
    unit->packRight(from.operand(), rows, depth, to.get());
    return to;
  }

  const MatrixUnit *unit = nullptr;
};

/// Rows of 32 floats; the first `depth` of each of the first `count` rows are set.
Aligned<float> someWeights(int64_t count, int64_t rows, int64_t depth) {
  Aligned<float> weights(rows * kUnitPanel);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < depth; ++j)
      weights[i * kUnitPanel + j] =
          std::exp2(8 * fraction(i * 31 + j)); // with all significant bits
  return weights;
}

Aligned<float> zeros(int64_t count) {
  Aligned<float> numbers(count);
  std::fill_n(numbers.get(), count, 0.0f);
  return numbers;
}

// Any number of rows and any depth against a panel of lanes, in both layouts of each operand.
TEST_P(OnEachUnit, MultipliesRows) {
  for (int64_t rows : {1, 8, 33, 64})
    for (int64_t depth : {1, 5, 31, 64, 72})
      for (int64_t lanes : {3, 32})
        for (bool along : {false, true}) {
          const Matrix left(rows, depth, true, 1), right(lanes, depth, along, 2);
          Aligned<float> c(unitPanels(rows) * kUnitBlockElements);
          unit->multiply(packedLeft(left, rows, depth).get(), rows,
                         packedRight(right, lanes, depth).get(), depth, 0.5f, c.get());
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < kUnitPanel; ++j) {
              float want = 0;
              for (int64_t d = 0; j < lanes && d < depth; ++d)
                want += left.at(i, d) * right.at(j, d);
              ASSERT_NEAR(c[i * kUnitPanel + j], want / 2, 1e-5)
                  << rows << "x" << lanes << "x" << depth << " at " << i << "," << j;
            }
        }
}

// Weights as rows of k: only existing rows count, with twice bf16's digits.
TEST_P(OnEachUnit, AddsWeightedRows) {
  const int64_t deepest = 96;
  for (int64_t rows : {1, 24, 40})
    for (int64_t first : {0, 32})
      for (int64_t count : {1, 7, 33, 64}) {
        const Matrix left(rows, deepest, false, 3);
        const Aligned<uint16_t> packed = packedLeft(left, rows, deepest);
        const Aligned<float> weights = someWeights(count, 64, kUnitPanel);
        Aligned<uint16_t> high(packedElements(32, 64)), low(packedElements(32, 64));
        const Halves halves{high.get(), low.get()};
        Aligned<float> c = zeros(unitPanels(rows) * kUnitBlockElements);
        c[0] = 4;
        const int64_t stride = unitPanels(deepest) * kUnitBlockElements;
        unit->splitDepth(weights.get(), count, halves);
        unit->add(packed.get() + first / kUnitPanel * kUnitBlockElements, rows, stride, halves,
                  count, c.get());
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < kUnitPanel; ++j) {
            double want = i == 0 && j == 0 ? 4 : 0, magnitude = want;
            for (int64_t d = 0; d < count; ++d) {
              want += double(left.at(i, first + d)) * double(weights[d * kUnitPanel + j]);
              magnitude += std::abs(double(left.at(i, first + d)) * weights[d * kUnitPanel + j]);
            }
            ASSERT_NEAR(c[i * kUnitPanel + j], want, 0x1p-16 * magnitude)
                << rows << " rows, " << count << " from " << first << " at " << i << "," << j;
          }
      }
}

// Weights as rows: missing rows and elements do not change the result.
TEST_P(OnEachUnit, AddsByRowsOfWeights) {
  const int64_t deepest = 96;
  for (int64_t rows : {1, 12, 64})
    for (int64_t depth : {1, 9, 32})
      for (int64_t columns : {5, 16, 40}) {
        const Matrix right(columns, deepest, false, 5);
        const Aligned<uint16_t> packed = packedRight(right, columns, deepest);
        const Aligned<float> weights = someWeights(rows, 64, depth);
        Aligned<uint16_t> high(packedElements(64, 32)), low(packedElements(64, 32));
        const Halves halves{high.get(), low.get()};
        Aligned<float> c = zeros(unitPanels(rows) * unitPanels(columns) * kUnitBlockElements);
        const int64_t stride = unitPanels(deepest) * kUnitBlockElements;
        unit->splitRows(weights.get(), rows, depth, halves);
        unit->addAcross(halves, rows, depth, packed.get() + kUnitBlockElements, columns, stride,
                        c.get());
        for (int64_t i = 0; i < unitPanels(rows) * kUnitPanel; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            double want = 0, magnitude = 0;
            for (int64_t d = 0; i < rows && d < depth; ++d) {
              want += double(weights[i * kUnitPanel + d]) * double(right.at(j, 32 + d));
              magnitude += std::abs(double(weights[i * kUnitPanel + d]) * right.at(j, 32 + d));
            }
            const int64_t square = i / kUnitPanel * unitPanels(columns) + j / kUnitPanel;
            ASSERT_NEAR(
                c[square * kUnitBlockElements + i % kUnitPanel * kUnitPanel + j % kUnitPanel], want,
                0x1p-16 * magnitude)
                << rows << "x" << columns << "x" << depth << " at " << i << "," << j;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(MatrixUnit, OnEachUnit, testing::Values("tiles", "pairs"));

// Lanes are transposed back to rows, rounded to nearest, without other writes.
TEST(MatrixUnitStore, RoundsLanesIntoRows) {
  if (!hasPairs())
    GTEST_SKIP() << "not of this processor";
  for (int64_t depth : {1, 16, 40})
    for (int64_t rows : {1, 17, 32}) {
      const int64_t ld = depth + 3;
      Aligned<float> lanes(unitPanels(depth) * kUnitBlockElements);
      for (int64_t i = 0; i < depth * kUnitPanel; ++i)
        lanes[i] = fraction(i);
      std::vector<bf16> to(rows * ld, 7.0f);
      avx512::storeRows(lanes.get(), depth, 3, to.data(), ld, rows);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t d = 0; d < ld; ++d)
          ASSERT_EQ(float(to[i * ld + d]),
                    float(d < depth ? bf16(3 * lanes[d * kUnitPanel + i]) : bf16(7.0f)));
    }
}

} // namespace
