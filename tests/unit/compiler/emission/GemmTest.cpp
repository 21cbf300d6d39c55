// Planned products compute the Einstein summation.

#include "compiler/emission/Gemm.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <random>

using namespace titan::emission;

namespace {

struct Tensor {
  GemmOperand operand;
  std::vector<double> data;
};

Tensor makeTensor(const std::string &dims, const std::map<char, int64_t> &sizes) {
  Tensor tensor;
  int64_t count = 1;
  for (char dim : dims) {
    std::string name(1, dim);
    tensor.operand.dims.push_back({name, SizeExpr(SizeFactor{name, sizes.at(dim)})});
    count *= sizes.at(dim);
  }
  tensor.operand.access = makeAccess("", tensor.operand.dims);
  tensor.data.assign(count, 0);
  return tensor;
}

int64_t getValue(const SizeExpr &extent) {
  return extent.getValue().value();
}

/// Offset of a tensor at the given indices of the loops.
int64_t getOffsetAt(const Tensor &tensor, llvm::ArrayRef<Loop> loops,
                    llvm::ArrayRef<int64_t> indices) {
  int64_t offset = 0;
  for (auto [loop, index] : llvm::zip(loops, indices)) {
    auto it = tensor.operand.access.strides.find(loop.getKey());
    if (it != tensor.operand.access.strides.end())
      offset += index * getValue(it->second);
  }
  return offset;
}

/// Computes the product of a plan as the runtime's gemm does, always with accumulation.
void multiply(const GemmPlan &plan, const double *a, const double *b, double *c) {
  int64_t batches = plan.batch ? getValue(plan.batch->size) : 1;
  int64_t lda = getValue(plan.lda), ldb = getValue(plan.ldb), ldc = getValue(plan.ldc);
  for (int64_t l = 0; l < batches; ++l)
    for (int64_t i = 0; i < getValue(plan.m); ++i)
      for (int64_t j = 0; j < getValue(plan.n); ++j)
        for (int64_t p = 0; p < getValue(plan.k); ++p)
          c[l * getValue(plan.strideC) + i * ldc + j] +=
              a[l * getValue(plan.strideA) + (plan.transposeA ? p * lda + i : i * lda + p)] *
              b[l * getValue(plan.strideB) + (plan.transposeB ? j * ldb + p : p * ldb + j)];
}

/// Runs the loops of a plan around its products; `indices` are those of the outer loops.
void run(const GemmPlan &plan, const Tensor &a, const Tensor &b, Tensor &c,
         llvm::SmallVector<int64_t> indices = {}) {
  if (indices.size() < plan.loops.size()) {
    for (int64_t i = 0; i < getValue(plan.loops[indices.size()].size); ++i) {
      indices.push_back(i);
      run(plan, a, b, c, indices);
      indices.pop_back();
    }
    return;
  }
  const double *left = a.data.data() + getOffsetAt(a, plan.loops, indices);
  const double *right = b.data.data() + getOffsetAt(b, plan.loops, indices);
  multiply(plan, plan.swapped ? right : left, plan.swapped ? left : right,
           c.data.data() + getOffsetAt(c, plan.loops, indices));
}

/// The summation by its definition: one loop per dimension.
std::vector<double> einsum(const Tensor &a, const Tensor &b, const Tensor &c,
                           const std::map<char, int64_t> &sizes) {
  std::vector<double> result(c.data.size(), 0);
  llvm::SmallVector<Loop> loops;
  for (auto [dim, size] : sizes)
    loops.push_back({{std::string(1, dim)}, SizeExpr(SizeFactor{std::string(1, dim), size}), ""});
  std::function<void(llvm::SmallVector<int64_t>)> walk = [&](llvm::SmallVector<int64_t> at) {
    if (at.size() == loops.size()) {
      result[getOffsetAt(c, loops, at)] +=
          a.data[getOffsetAt(a, loops, at)] * b.data[getOffsetAt(b, loops, at)];
      return;
    }
    for (int64_t i = 0, n = getValue(loops[at.size()].size); i < n; ++i) {
      at.push_back(i);
      walk(at);
      at.pop_back();
    }
  };
  walk({});
  return result;
}

// In 500 random contractions over up to five dimensions in random orders, every planned matrix
// product computes the summation. A product is planned in most cases.
TEST(Gemm, ComputesTheSummation) {
  std::mt19937 random(1);
  int planned = 0;
  for (int round = 0; round < 500; ++round) {
    std::map<char, int64_t> sizes;
    std::string a, b, c;
    for (char dim = 'a'; dim < 'a' + 2 + static_cast<char>(random() % 4); ++dim) {
      sizes[dim] = 1 + random() % 3;
      switch (random() % 4) { // batch, m, n, k
      case 0:
        a += dim, b += dim, c += dim;
        break;
      case 1:
        a += dim, c += dim;
        break;
      case 2:
        b += dim, c += dim;
        break;
      default:
        a += dim, b += dim;
      }
    }
    for (std::string *dims : {&a, &b, &c})
      std::shuffle(dims->begin(), dims->end(), random);
    Tensor left = makeTensor(a, sizes), right = makeTensor(b, sizes), out = makeTensor(c, sizes);
    for (Tensor *tensor : {&left, &right})
      for (double &value : tensor->data)
        value = static_cast<double>(random() % 7) - 3;
    GemmPlan plan = planGemm(left.operand, right.operand, out.operand);
    if (!plan.isGemm)
      continue;
    ++planned;
    run(plan, left, right, out);
    EXPECT_EQ(out.data, einsum(left, right, out, sizes)) << a << ", " << b << " -> " << c;
  }
  EXPECT_GE(planned, 300);
}

// A weight gradient is one product of a transposed left matrix: contiguous row dimensions are
// merged.
TEST(Gemm, MergesContiguousDimensions) {
  std::map<char, int64_t> sizes{{'b', 2}, {'s', 3}, {'e', 4}, {'h', 2}, {'d', 5}};
  GemmPlan plan = planGemm(makeTensor("bse", sizes).operand, makeTensor("bshd", sizes).operand,
                           makeTensor("ehd", sizes).operand);
  ASSERT_TRUE(plan.isGemm);
  EXPECT_TRUE(plan.loops.empty());
  EXPECT_TRUE(plan.transposeA);
  EXPECT_EQ(plan.k.str(), "b * s");
  EXPECT_EQ(plan.n.str(), "h * d");
}

// Dimensions whose sizes are known only at launch are merged like others.
TEST(Gemm, MergesUnknownSizes) {
  auto dim = [](const char *name, int64_t value) {
    return IndexDim{name, SizeExpr(SizeFactor{name, value})};
  };
  auto operand = [](llvm::SmallVector<IndexDim> dims) {
    return GemmOperand{makeAccess("", dims), dims};
  };
  IndexDim batch = dim("batch", 0), seq = dim("seq", 8), embed = dim("embed", 4),
           ffn = dim("ffn", 6);
  GemmPlan plan =
      planGemm(operand({batch, seq, embed}), operand({embed, ffn}), operand({batch, seq, ffn}));
  ASSERT_TRUE(plan.isGemm);
  EXPECT_EQ(plan.m.str(), "batch * seq");
  EXPECT_TRUE(plan.loops.empty());
}

} // namespace
