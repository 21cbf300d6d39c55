// Flash attention as LibTorch's functions define it: by definition in double, with their
// requirements and the sizes of what they allocate (PyTorch 2.11, mha_fwd and mha_bwd in
// aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp).
#include "Memory.h"
#include "Streams.h"
#include "Torch.h"
#include "TorchUse.h"

#include "titan/runtime/bfloat16.h"

#include <algorithm>
#include <cmath>

using namespace cuda_host;
using at::Tensor;
using at::View;
using titan::rt::bf16;

namespace {

constexpr int64_t kMultiprocessors = 132; // of an H100

void require(bool isMet, const char *what) {
  if (!isMet)
    throw c10::Error(std::string("flash attention: ") + what);
}

int64_t roundUp(int64_t a, int64_t b) {
  return (a + b - 1) / b * b;
}

/// [batch, positions, heads, elements]. The kernels load 16 bytes at once, which LibTorch does not
/// check.
void requireOperand(const View &view, const char *name) {
  require(view.sizes.size() == 4 && view.type == at::kBFloat16, "expected four dimensions in bf16");
  require(view.strides[3] == 1, "the last dimension must be contiguous");
  if (reinterpret_cast<uintptr_t>(view.data) % 16 != 0)
    fail("flash attention: %s is not aligned to 16 bytes", name);
  for (int d = 0; d < 3; ++d)
    if (view.sizes[d] > 1 && view.strides[d] % 8 != 0)
      fail("flash attention: a row of %s is not aligned to 16 bytes", name);
}

struct Problem {
  View q, k, v;
  double scale;
  int64_t left, right; // keys beside a query that it sees; negative: all

  Problem(const Tensor &q, const Tensor &k, const Tensor &v, std::optional<double> scale,
          bool isCausal, std::optional<int64_t> left, std::optional<int64_t> right)
      : q(q), k(k), v(v), scale(scale.value_or(1 / std::sqrt(double(q.sizes[3])))),
        left(left.value_or(-1)), right(right.value_or(-1)) {
    requireOperand(q, "q");
    requireOperand(k, "k");
    requireOperand(v, "v");
    require(head() % 8 == 0 && head() <= 256, "the head size must be a multiple of 8, at most 256");
    require(batch() > 0, "the batch must not be empty");
    require(heads() % keyHeads() == 0, "heads of keys must divide heads of queries");
    require(k.sizes == v.sizes && k.sizes[0] == batch() && k.sizes[3] == head(),
            "q, k and v do not fit together");
    if (batch() > 65535 || heads() > 65535)
      fail("flash attention: the grid is too large");
    if (this->left >= keys())
      this->left = -1;
    if (this->right >= keys())
      this->right = -1;
    if (isCausal && queries() > 1)
      this->right = 0;
  }

  int64_t batch() const { return q.sizes[0]; }
  int64_t queries() const { return q.sizes[1]; }
  int64_t heads() const { return q.sizes[2]; }
  int64_t head() const { return q.sizes[3]; }
  int64_t keys() const { return k.sizes[1]; }
  int64_t keyHeads() const { return k.sizes[2]; }
  int64_t keyHead(int64_t h) const { return h / (heads() / keyHeads()); }
  int64_t roundedHead() const { return roundUp(head(), head() <= 128 ? 32 : 64); }

  /// The last query is aligned with the last key.
  int64_t firstKey(int64_t query) const {
    return left < 0 ? 0 : std::max<int64_t>(0, query + keys() - queries() - left);
  }
  int64_t endOfKeys(int64_t query) const {
    return right < 0 ? keys() : std::min(keys(), query + keys() - queries() + right + 1);
  }
};

/// The elements of a head.
bf16 *row(const View &view, int64_t b, int64_t position, int64_t h) {
  return static_cast<bf16 *>(view.data) + b * view.strides[0] + position * view.strides[1] +
         h * view.strides[2];
}
const bf16 *readRow(const View &view, int64_t b, int64_t position, int64_t h) {
  const bf16 *at = row(view, b, position, h);
  checkRead(at, view.sizes[3] * sizeof(bf16), "flash attention");
  return at;
}
void writeRow(const View &view, int64_t b, int64_t position, int64_t h, const double *values) {
  bf16 *at = row(view, b, position, h);
  checkWrite(at, view.sizes[3] * sizeof(bf16), "flash attention");
  for (int64_t d = 0; d < view.sizes[3]; ++d)
    at[d] = static_cast<float>(values[d]);
  markWritten(at, view.sizes[3] * sizeof(bf16));
}
float *lseAt(const View &lse, int64_t b, int64_t h, int64_t query) {
  return static_cast<float *>(lse.data) + (b * lse.sizes[1] + h) * lse.sizes[2] + query;
}

double dot(const bf16 *a, const bf16 *b, int64_t count) {
  double sum = 0;
  for (int64_t d = 0; d < count; ++d)
    sum += double(a[d]) * double(b[d]);
  return sum;
}

template <typename Body> void forEachQuery(const Problem &p, Body body) {
  for (int64_t b = 0; b < p.batch(); ++b)
    for (int64_t h = 0; h < p.heads(); ++h)
      for (int64_t i = 0; i < p.queries(); ++i)
        body(b, h, i);
}

void computeForward(const Problem &p, const View &out, const View &lse) {
  forEachQuery(p, [&](int64_t b, int64_t h, int64_t i) {
    const bf16 *q = readRow(p.q, b, i, h);
    double total = 0;
    std::vector<double> sum(p.head());
    for (int64_t j = p.firstKey(i); j < p.endOfKeys(i); ++j) {
      const double e = std::exp(p.scale * dot(q, readRow(p.k, b, j, p.keyHead(h)), p.head()));
      const bf16 *v = readRow(p.v, b, j, p.keyHead(h));
      total += e;
      for (int64_t d = 0; d < p.head(); ++d)
        sum[d] += e * double(v[d]);
    }
    for (double &value : sum)
      value = total > 0 ? value / total : 0;
    writeRow(out, b, i, h, sum.data());
    float *to = lseAt(lse, b, h, i);
    checkWrite(to, sizeof(float), "flash attention");
    *to = total > 0 ? static_cast<float>(std::log(total)) : INFINITY; // infinity: LibTorch's value
    markWritten(to, sizeof(float));
  });
}

void computeBackward(const Problem &p, const View &cotangent, const View &out, const View &lse,
                     const View &dq, const View &dk, const View &dv) {
  const int64_t head = p.head(), elements = p.batch() * p.keys() * p.keyHeads() * head;
  std::vector<double> sumsOfDk(elements), sumsOfDv(elements);
  auto offset = [&](int64_t b, int64_t j, int64_t h) {
    return ((b * p.keys() + j) * p.keyHeads() + h) * head;
  };
  forEachQuery(p, [&](int64_t b, int64_t h, int64_t i) {
    const bf16 *q = readRow(p.q, b, i, h), *c = readRow(cotangent, b, i, h);
    const double delta =
        dot(c, readRow(out, b, i, h), head); // as the FlashAttention papers call it
    checkRead(lseAt(lse, b, h, i), sizeof(float), "flash attention");
    std::vector<double> sum(head);
    for (int64_t j = p.firstKey(i); j < p.endOfKeys(i); ++j) {
      const bf16 *k = readRow(p.k, b, j, p.keyHead(h)), *v = readRow(p.v, b, j, p.keyHead(h));
      const double probability = std::exp(p.scale * dot(q, k, head) - *lseAt(lse, b, h, i));
      const double scoreCotangent = p.scale * probability * (dot(c, v, head) - delta);
      const int64_t at = offset(b, j, p.keyHead(h));
      for (int64_t d = 0; d < head; ++d) {
        sum[d] += scoreCotangent * double(k[d]);
        sumsOfDk[at + d] += scoreCotangent * double(q[d]);
        sumsOfDv[at + d] += probability * double(c[d]);
      }
    }
    writeRow(dq, b, i, h, sum.data());
  });
  for (int64_t b = 0; b < p.batch(); ++b)
    for (int64_t j = 0; j < p.keys(); ++j)
      for (int64_t h = 0; h < p.keyHeads(); ++h) {
        writeRow(dk, b, j, h, &sumsOfDk[offset(b, j, h)]);
        writeRow(dv, b, j, h, &sumsOfDv[offset(b, j, h)]);
      }
}

/// The fraction of the device that is busy, on average, while `blocks` run.
double getOccupancy(int64_t blocks) {
  const double waves = double(blocks) / (2 * kMultiprocessors);
  return waves / std::ceil(waves);
}

/// Chunks into which the forward pass divides the keys: num_splits_heuristic of flash_api.cpp, with
/// its thresholds of occupancy.
int64_t chooseSplits(const Problem &p) {
  const int64_t blocks = p.batch() * p.heads() * roundUp(p.queries(), 64) / 64;
  const int64_t keyBlock = p.head() <= 64 ? 256 : p.head() <= 128 ? 128 : 64;
  const int64_t keyBlocks = roundUp(p.keys(), keyBlock) / keyBlock;
  if (blocks >= 0.8 * 2 * kMultiprocessors)
    return 1;
  auto perChunk = [&](int64_t chunks) { return (keyBlocks + chunks - 1) / chunks; };
  std::vector<int64_t> legal;
  for (int64_t chunks = 1; chunks <= std::min<int64_t>(128, keyBlocks); ++chunks)
    if (chunks == 1 || perChunk(chunks) != perChunk(chunks - 1))
      legal.push_back(chunks);
  double best = 0;
  for (int64_t chunks : legal)
    best = std::max(best, getOccupancy(blocks * chunks));
  return *std::find_if(legal.begin(), legal.end(), [&](int64_t chunks) {
    return getOccupancy(blocks * chunks) >= 0.85 * best;
  });
}

} // namespace

namespace at {

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
_flash_attention_forward(const Tensor &q, const Tensor &k, const Tensor &v,
                         const std::optional<Tensor> &startsOfQueries,
                         const std::optional<Tensor> &startsOfKeys, int64_t queries, int64_t keys,
                         double dropout, bool isCausal, bool isDebug, std::optional<double> scale,
                         std::optional<int64_t> left, std::optional<int64_t> right) {
  const Problem p(q, k, v, scale, isCausal, left, right);
  require(!startsOfQueries && !startsOfKeys && dropout == 0 && !isDebug, "not emulated");
  require(queries == p.queries() && keys == p.keys(), "wrong numbers of positions");
  require(queries > 1, "the rearranged heads of a single query are not emulated");
  ++torchUse.forward;
  Tensor out = makeTensor(kBFloat16, q.sizes);
  Tensor lse = makeTensor(kFloat, {p.batch(), p.heads(), queries});
  Tensor state = makeTensor(kLong, {2}), unused = makeTensor(kLong, {}), none;
  Tensor lseOfChunks, outOfChunks;
  if (const int64_t splits = chooseSplits(p); splits > 1) {
    lseOfChunks = makeTensor(kFloat, {splits, p.batch(), p.heads(), queries});
    outOfChunks = makeTensor(kFloat, {splits, p.batch(), p.heads(), queries, p.roundedHead()});
  }
  queueWork(currentStream, [p, out = View(out), lse = View(lse)] { computeForward(p, out, lse); });
  return {out, lse, state, unused, none};
}

std::tuple<Tensor, Tensor, Tensor> _flash_attention_backward(
    const Tensor &cotangent, const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &out,
    const Tensor &lse, const Tensor &startsOfQueries, const Tensor &startsOfKeys, int64_t queries,
    int64_t keys, double dropout, bool isCausal, const Tensor &, const Tensor &,
    std::optional<double> scale, std::optional<int64_t> left, std::optional<int64_t> right) {
  const Problem p(q, k, v, scale, isCausal, left, right);
  require(!startsOfQueries.data && !startsOfKeys.data && dropout == 0, "not emulated");
  require(queries == p.queries() && keys == p.keys(), "wrong numbers of positions");
  require(out.sizes == q.sizes && cotangent.sizes == q.sizes, "the result does not fit");
  if (lse.type != kFloat || lse.sizes != std::vector{p.batch(), p.heads(), queries} ||
      !lse.isContiguous()) // LibTorch does not check
    fail("flash attention: the log-sum-exp is not a contiguous [batch, heads, queries] in f32");
  if (!globalContext().deterministicAlgorithms())
    fail("flash attention: the order of sums is open; replicas would differ");
  ++torchUse.backward;
  const Tensor contiguousCotangent = cotangent.contiguous(), contiguousOut = out.contiguous();
  requireOperand(contiguousCotangent, "the cotangent");
  requireOperand(contiguousOut, "the result");
  const int64_t rounded = roundUp(queries, 128), pairs = p.batch() * p.heads();
  Tensor dq = makeTensor(kBFloat16, q.sizes), dk = makeTensor(kBFloat16, k.sizes),
         dv = makeTensor(kBFloat16, v.sizes);
  Tensor sums = makeTensor(kFloat, {p.batch(), p.heads(), rounded});
  Tensor accumulators = makeTensor(kFloat, {(kMultiprocessors + pairs - 1) / pairs, p.batch(),
                                            rounded, p.heads(), p.roundedHead()});
  Tensor keysOfHeads, valuesOfHeads;
  if (p.heads() != p.keyHeads()) {
    keysOfHeads = makeTensor(kBFloat16, {p.batch(), keys, p.heads(), p.head()});
    valuesOfHeads = makeTensor(kBFloat16, {p.batch(), keys, p.heads(), p.head()});
  }
  queueWork(currentStream, [p, cotangent = View(contiguousCotangent), out = View(contiguousOut),
                            lse = View(lse), dq = View(dq), dk = View(dk), dv = View(dv)] {
    computeBackward(p, cotangent, out, lse, dq, dk, dv);
  });
  return {dq, dk, dv};
}

} // namespace at
