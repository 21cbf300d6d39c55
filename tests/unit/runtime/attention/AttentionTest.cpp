// Attention on CPUs against its definition, and merged steps of a ring.
#include "attention/Attention.h"

#include "tests/unit/runtime/RandomValues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <omp.h>
#include <ostream>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace titan::rt {
void PrintTo(const AttentionShape &s, std::ostream *os) {
  *os << s.outer << "x" << s.queries << "/" << s.keys << "x" << s.kvHeads << "x" << s.group << "x"
      << s.head << "/" << s.valueHead << (s.causal ? " causal" : "") << " window " << s.window
      << " cap " << s.softCap << (s.documents ? " documents" : "");
}
} // namespace titan::rt

namespace {

/// Documents of unequal lengths, one of which continues after another one, and a document of one
/// position.
const int64_t *someDocuments() {
  static std::vector<int64_t> documents;
  for (int64_t i = 0; documents.size() < 1000; ++i)
    documents.push_back(i % 131 < 40 ? i / 131 : i % 131 == 70 ? 1000 + i : -1 - i / 131);
  return documents.data();
}

/// Inputs and results of one attention, forward and backward. Memory holds E.
template <typename E> struct Case {
  using T = Accumulated<E>;
  std::vector<E> q, k, v, dout, out, dq, dk, dv;
  std::vector<T> lseCotangent, lse;

  explicit Case(const AttentionShape &s) {
    int64_t kv = s.outer * s.keys * s.kvHeads;
    int64_t rows = s.outer * s.queries * s.kvHeads * s.group;
    q = randomValues<E>("q", rows * s.head);
    k = randomValues<E>("k", kv * s.head);
    v = randomValues<E>("v", kv * s.valueHead);
    dout = randomValues<E>("dout", rows * s.valueHead);
    lseCotangent = randomValues<T>("lseCotangent", rows);
    out.assign(dout.size(), NAN), dq.assign(q.size(), NAN);
    dk.assign(k.size(), NAN), dv.assign(v.size(), NAN);
    lse.assign(rows, NAN);
  }
};

/// The queries of a rank of four that share 240 positions: two intervals of 30.
DimShard headTail(int64_t rank) {
  return getShard(240, {{4, rank, ShardOrder::HeadTail}});
}

bool isVisible(const AttentionShape &s, int64_t o, int64_t h, int64_t query, int64_t key) {
  int64_t position = queryPositions(s, o, h).toGlobal(query);
  auto document = [&](int64_t i) { return s.documents[o * s.keys + i]; };
  return (!s.causal || key <= position) && (!s.window || std::abs(position - key) < s.window) &&
         (!s.documents || document(position) == document(key));
}

/// A direct implementation of the definition.
template <typename T> void reference(const AttentionShape &s, Case<T> &c) {
  std::fill(c.out.begin(), c.out.end(), 0), std::fill(c.dq.begin(), c.dq.end(), 0);
  std::fill(c.dk.begin(), c.dk.end(), 0), std::fill(c.dv.begin(), c.dv.end(), 0);
  auto key = [&](int64_t o, int64_t j, int64_t h) { return ((o * s.keys + j) * s.kvHeads + h); };
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t h = 0; h < s.kvHeads; ++h)
      for (int64_t g = 0; g < s.group; ++g)
        for (int64_t i = 0; i < s.queries; ++i) {
          int64_t row = ((o * s.queries + i) * s.kvHeads + h) * s.group + g;
          std::vector<T> score(s.keys, -INFINITY), slope(s.keys), p(s.keys), dp(s.keys);
          T top = -INFINITY, total = 0, mean = -c.lseCotangent[row];
          for (int64_t j = 0; j < s.keys; ++j) {
            if (!isVisible(s, o, h, i, j))
              continue;
            T product = 0;
            for (int64_t d = 0; d < s.head; ++d)
              product += c.q[row * s.head + d] * c.k[key(o, j, h) * s.head + d];
            score[j] = product * static_cast<T>(s.scale);
            slope[j] = static_cast<T>(s.scale);
            if (s.softCap > 0) {
              T cap = static_cast<T>(s.softCap), t = std::tanh(score[j] / cap);
              score[j] = cap * t;
              slope[j] *= 1 - t * t;
            }
            top = std::max(top, score[j]);
          }
          for (int64_t j = 0; j < s.keys; ++j)
            total += p[j] = std::exp(score[j] - top);
          c.lse[row] = top + std::log(total);
          for (int64_t j = 0; j < s.keys; ++j) {
            p[j] /= total;
            for (int64_t d = 0; d < s.valueHead; ++d) {
              T value = c.v[key(o, j, h) * s.valueHead + d], dout = c.dout[row * s.valueHead + d];
              c.out[row * s.valueHead + d] += p[j] * value;
              c.dv[key(o, j, h) * s.valueHead + d] += p[j] * dout;
              dp[j] += dout * value;
            }
            mean += p[j] * dp[j];
          }
          for (int64_t j = 0; j < s.keys; ++j)
            for (int64_t d = 0; d < s.head; ++d) {
              T ds = p[j] * (dp[j] - mean) * slope[j];
              c.dq[row * s.head + d] += ds * c.k[key(o, j, h) * s.head + d];
              c.dk[key(o, j, h) * s.head + d] += ds * c.q[row * s.head + d];
            }
        }
}

/// Memory for both passes, alive as long as the shape that names it.
class WithScratch {
public:
  template <typename T> WithScratch(AttentionShape &s, T) {
    attention_scratch::Sizes sizes = scratchSizes<T>(s);
    int64_t block = std::max(forwardBytes(sizes), backwardBytes(sizes));
    memory.resize(block * omp_get_max_threads() + 64);
    void *start = memory.data();
    size_t space = memory.size();
    s.scratch = std::align(64, space - 64, start, space);
  }

private:
  std::vector<std::byte> memory;
};

template <typename E> void compute(AttentionShape s, Case<E> &c) {
  WithScratch scratch(s, Accumulated<E>());
  attentionForward(s, c.q.data(), c.k.data(), c.v.data(), c.out.data(), c.lse.data());
  attentionBackward(s, c.q.data(), c.k.data(), c.v.data(), c.out.data(), c.lse.data(),
                    c.dout.data(), c.lseCotangent.data(), c.dq.data(), c.dk.data(), c.dv.data());
}

template <typename T> double distance(const std::vector<T> &got, const std::vector<T> &want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(double(got[i]) - double(want[i]), 2);
    norm += std::pow(double(want[i]), 2);
  }
  return std::sqrt(difference / norm);
}

template <typename T> void compareWithReference(const AttentionShape &s, double bound) {
  Case<T> got(s), want(s);
  compute(s, got);
  reference(s, want);
  EXPECT_LE(distance(got.out, want.out), bound);
  EXPECT_LE(distance(got.lse, want.lse), bound);
  EXPECT_LE(distance(got.dv, want.dv), bound);
  if (s.keys > 1) { // a single key has probability 1, so q and k have no gradient
    EXPECT_LE(distance(got.dq, want.dq), bound);
    EXPECT_LE(distance(got.dk, want.dk), bound);
  }
}

class Attention : public testing::TestWithParam<AttentionShape> {};

// In float64, the kernel and the definition agree to 1e-12, forward and backward.
TEST_P(Attention, MatchesTheDefinitionInDouble) {
  compareWithReference<double>(GetParam(), 1e-12);
}

// In float32, they agree to float rounding.
TEST_P(Attention, MatchesTheDefinitionInFloat) {
  compareWithReference<float>(GetParam(), 3e-6);
}

AttentionShape makeShape(int64_t outer, int64_t seq, int64_t kvHeads, int64_t group, int64_t head,
                         double scale, bool causal) {
  return {outer, seq, seq, kvHeads, group, head, head, scale, causal};
}

// Lengths around every block boundary, head dimensions that fill vectors or not, groups.
INSTANTIATE_TEST_SUITE_P(
    Shapes, Attention,
    testing::Values(makeShape(2, 64, 2, 1, 16, 0.25, true), makeShape(1, 1, 1, 1, 8, 1.0, true),
                    makeShape(1, 31, 2, 3, 5, 0.4, true), makeShape(1, 33, 1, 2, 1, 1.0, true),
                    makeShape(2, 97, 2, 4, 24, 0.2, true), makeShape(1, 130, 1, 2, 64, 0.125, true),
                    makeShape(1, 65, 1, 1, 128, 0.09, true), makeShape(1, 70, 2, 2, 20, 0.2, false),
                    makeShape(1, 160, 1, 1, 16, 0.25, false)));

// Every term of a mask alone and combined, a different value head size, a capped score, and a slice
// of the positions as queries.
INSTANTIATE_TEST_SUITE_P(
    Masks, Attention,
    testing::Values(
        AttentionShape{1, 200, 200, 1, 2, 16, 16, 0.25, true, 33},
        AttentionShape{1, 200, 200, 2, 1, 16, 16, 0.25, true, 1},
        AttentionShape{1, 200, 200, 1, 1, 16, 16, 0.25, true, 500},
        AttentionShape{1, 300, 300, 1, 1, 8, 8, 0.3, false, 20},
        AttentionShape{1, 150, 150, 1, 2, 12, 12, 0.3, true, 0, 0.7},
        AttentionShape{1, 150, 150, 1, 2, 12, 20, 0.3, true},
        AttentionShape{1, 150, 150, 2, 1, 20, 12, 0.3, false, 70, 1.5},
        AttentionShape{2, 250, 250, 1, 2, 8, 8, 0.3, true, 0, 0, {}, someDocuments()},
        AttentionShape{2, 250, 250, 1, 1, 8, 8, 0.3, false, 0, 0, {}, someDocuments()},
        AttentionShape{2, 250, 250, 1, 1, 8, 24, 0.3, true, 90, 2.0, {}, someDocuments()},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, true, 0, 0, {120, 60}},
        AttentionShape{2, 50, 250, 1, 2, 8, 8, 0.3, true, 77, 0, {150, 50}, someDocuments()},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, false, 50, 0, {180, 60}},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, true, 0, 0, headTail(0)},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, true, 0, 0, headTail(3)},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, true, 77, 0, headTail(1), someDocuments()},
        AttentionShape{1, 60, 240, 1, 2, 8, 8, 0.3, false, 50, 0, headTail(2)},
        AttentionShape{2, 1, 240, 2, 3, 8, 20, 0.3, true, 0, 0, {130, 1}},
        AttentionShape{1, 1, 240, 1, 2, 24, 8, 0.3, true, 70, 1.5, {239, 1}, someDocuments()},
        AttentionShape{2, 3, 240, 1, 1, 5, 5, 0.3, true, 0, 0.7, {64, 3}, someDocuments()},
        AttentionShape{1, 2, 240, 1, 1, 16, 16, 0.3, false, 30, 0, {100, 2}}));

/// A chunk of each of three texts of a batch with two heads; starts by text or by text and head.
AttentionShape atStarts(int64_t queries, AttentionStrides strides) {
  static const int64_t starts[] = {0, 130, 36, 17, 90, 3};
  AttentionShape shape{3, queries, 140, 2, 2, 16, 16, 0.3, true};
  shape.start = starts, shape.ofStart = strides;
  return shape;
}

// Each text of a batch has queries at positions of its own, and so may each head.
INSTANTIATE_TEST_SUITE_P(Starts, Attention,
                         testing::Values(atStarts(1, {.outer = 1}), atStarts(9, {.outer = 1}),
                                         atStarts(1, {.outer = 2, .kvHead = 1}),
                                         atStarts(9, {.outer = 2, .kvHead = 1}), atStarts(2, {})));

/// Transposes `rows` rows of `size` elements.
std::vector<double> transposed(const std::vector<double> &from, int64_t size) {
  int64_t rows = static_cast<int64_t>(from.size()) / size;
  std::vector<double> to(from.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = 0; d < size; ++d)
      to[d * rows + i] = from[i * size + d];
  return to;
}

// The order of dimensions in memory is arbitrary: here the heads are outermost.
TEST(AttentionStrides, AnyOrder) {
  AttentionShape plain{2, 70, 70, 2, 3, 6, 10, 0.3, true}, turned = plain;
  int64_t rows = 2 * 70 * 2 * 3, keys = 2 * 70 * 2;
  turned.q = turned.out = {70 * 6, 6, 3, 1, rows};
  turned.k = turned.v = {70 * 2, 2, 1, 0, keys};
  Case<double> want(plain), got(plain);
  compute(plain, want);
  got.q = transposed(want.q, 6), got.k = transposed(want.k, 6), got.v = transposed(want.v, 10);
  got.dout = transposed(want.dout, 10);
  compute(turned, got);
  EXPECT_EQ(got.out, transposed(want.out, 10));
  EXPECT_EQ(got.lse, want.lse);
  EXPECT_EQ(got.dq, transposed(want.dq, 6));
  EXPECT_EQ(got.dk, transposed(want.dk, 6));
  EXPECT_EQ(got.dv, transposed(want.dv, 10));
}

// Large scores neither overflow nor break the softmax.
TEST(AttentionNumerics, LargeScores) {
  AttentionShape shape = makeShape(1, 80, 1, 1, 16, 30.0, true);
  compareWithReference<double>(shape, 1e-10);
  Case<float> c(shape);
  compute(shape, c);
  for (float value : c.dq)
    ASSERT_TRUE(std::isfinite(value));
}

// bf16 is widened on load and rounded on store: compared with the float definition, results have
// only bf16's rounding, and lse has none.
void checkBfloat16(const AttentionShape &s) {
  Case<float> want(s);
  Case<bf16> got(s);
  auto widen = [](const std::vector<bf16> &values) {
    return std::vector<float>(values.begin(), values.end());
  };
  want.q = widen(got.q), want.k = widen(got.k), want.v = widen(got.v), want.dout = widen(got.dout);
  compute(s, got);
  reference(s, want);
  EXPECT_LE(distance(got.lse, want.lse), 3e-6);
  EXPECT_LE(distance(widen(got.out), want.out), 0x1p-8);
  EXPECT_LE(distance(widen(got.dv), want.dv), 0x1p-8);
  if (s.keys > 1) { // these also depend on the rounded output
    EXPECT_LE(distance(widen(got.dq), want.dq), 0x1p-7);
    EXPECT_LE(distance(widen(got.dk), want.dk), 0x1p-7);
  }
}

TEST_P(Attention, RoundsBfloat16Once) {
  checkBfloat16(GetParam());
}

template <typename E> void checkThreads(const AttentionShape &shape) {
  auto isSame = [](const std::vector<E> &one, const std::vector<E> &other) {
    return std::equal(one.begin(), one.end(), other.begin(),
                      [](E x, E y) { return float(x) == float(y); });
  };
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  Case<E> one(shape);
  compute(shape, one);
  for (int several : {3, 8}) {
    omp_set_num_threads(several);
    Case<E> other(shape);
    compute(shape, other);
    EXPECT_TRUE(isSame(one.out, other.out)) << several;
    EXPECT_TRUE(isSame(one.dq, other.dq)) << several;
    EXPECT_TRUE(isSame(one.dk, other.dk)) << several;
    EXPECT_TRUE(isSame(one.dv, other.dv)) << several;
  }
  omp_set_num_threads(threads);
}

// Results are bitwise equal for any number of threads, fewer or more than heads.
TEST(AttentionNumerics, DoesNotDependOnThreads) {
  for (AttentionShape shape :
       {makeShape(3, 70, 3, 2, 16, 0.25, true),
        AttentionShape{1, 270, 270, 2, 2, 16, 16, 0.25, true, 100, 0, {}, someDocuments()}}) {
    checkThreads<float>(shape);
    checkThreads<bf16>(shape);
  }
}

// A head of several full panels and a partial one, and more keys than queries.
TEST(AttentionNumerics, WideHeads) {
  AttentionShape shape = makeShape(2, 100, 1, 3, 72, 0.1, true);
  shape.queries = 37, shape.queryShard = {63, 37}, shape.valueHead = 40;
  checkBfloat16(shape);
}

// In head-tail order the queries of a rank are two intervals. The interval ends in the middle of a
// block of queries.
TEST(AttentionNumerics, HeadTailQueries) {
  for (int64_t rank : {0, 1, 2}) {
    AttentionShape shape = makeShape(2, 132, 2, 3, 16, 0.25, true);
    shape.queryShard = getShard(132, {{3, rank, ShardOrder::HeadTail}});
    shape.queries = 44;
    checkBfloat16(shape);
    checkThreads<float>(shape);
    shape.window = 30;
    checkBfloat16(shape);
    shape.causal = false;
    checkBfloat16(shape);
  }
}

/// The steps of a ring on one rank of three, in double: the keys of one rank after another, merged
/// by their log-sum-exps as in --dist-lower-ring-attention.
void checkRing(AttentionShape whole, ShardOrder order, int64_t rank) {
  const std::vector<ShardLevel> levels{{3, rank, order}};
  whole.queryShard = getShard(whole.keys, levels.data(), 1);
  whole.queries = whole.queryShard.length;
  Case<double> want(whole), sum(whole);
  reference(whole, want);
  std::fill(sum.out.begin(), sum.out.end(), 0), std::fill(sum.dq.begin(), sum.dq.end(), 0);
  std::fill(sum.lse.begin(), sum.lse.end(), -INFINITY);
  const int64_t keyRow = whole.kvHeads * whole.head, valueRow = whole.kvHeads * whole.valueHead;
  for (bool isBackward : {false, true})
    for (int64_t back : {0, 1, 2}) {
      AttentionShape s = whole;
      s.keyShard = getShard(whole.keys, levels.data(), 1, back);
      s.keys = s.keyShard.length;
      s.ofDocuments = {whole.keys, 1, 0, 0, 1};
      WithScratch scratch(s, double());
      Case<double> step(s);
      for (int64_t j = 0; j < s.keys; ++j) {
        int64_t at = s.keyShard.toGlobal(j);
        std::copy_n(&want.k[at * keyRow], keyRow, &step.k[j * keyRow]);
        std::copy_n(&want.v[at * valueRow], valueRow, &step.v[j * valueRow]);
      }
      if (isBackward) {
        attentionBackward(s, want.q.data(), step.k.data(), step.v.data(), sum.out.data(),
                          sum.lse.data(), want.dout.data(), want.lseCotangent.data(),
                          step.dq.data(), step.dk.data(), step.dv.data());
        for (size_t i = 0; i < sum.dq.size(); ++i)
          sum.dq[i] += step.dq[i];
        for (int64_t j = 0; j < s.keys; ++j) {
          int64_t at = s.keyShard.toGlobal(j);
          std::copy_n(&step.dk[j * keyRow], keyRow, &sum.dk[at * keyRow]);
          std::copy_n(&step.dv[j * valueRow], valueRow, &sum.dv[at * valueRow]);
        }
        continue;
      }
      attentionForward(s, want.q.data(), step.k.data(), step.v.data(), step.out.data(),
                       step.lse.data());
      for (size_t row = 0; row < sum.lse.size(); ++row) {
        double top = std::max(sum.lse[row], step.lse[row]);
        double one = std::exp(sum.lse[row] - top), other = std::exp(step.lse[row] - top);
        for (int64_t d = 0; d < s.valueHead; ++d) {
          double &out = sum.out[row * s.valueHead + d];
          out = (out * one + step.out[row * s.valueHead + d] * other) / (one + other);
        }
        sum.lse[row] = top + std::log(one + other);
      }
    }
  EXPECT_LE(distance(sum.out, want.out), 1e-12);
  EXPECT_LE(distance(sum.lse, want.lse), 1e-12);
  EXPECT_LE(distance(sum.dq, want.dq), 1e-12);
  EXPECT_LE(distance(sum.dk, want.dk), 1e-12);
  EXPECT_LE(distance(sum.dv, want.dv), 1e-12);
}

// The merged steps of a ring are attention over all keys, in both orders and with every mask.
TEST(AttentionRing, StepsMergeToTheWhole) {
  for (ShardOrder order : {ShardOrder::Block, ShardOrder::HeadTail})
    for (int64_t rank : {0, 1, 2}) {
      checkRing({1, 198, 198, 2, 2, 8, 12, 0.3, true}, order, rank);
      checkRing({1, 198, 198, 1, 2, 8, 8, 0.3, true, 50, 1.5}, order, rank);
      checkRing({1, 198, 198, 1, 1, 8, 8, 0.3, false, 30}, order, rank);
      checkRing({1, 198, 198, 2, 1, 8, 8, 0.3, true, 0, 0, {}, someDocuments()}, order, rank);
      checkRing({1, 198, 198, 1, 1, 8, 8, 0.3, false}, order, rank);
    }
}

template <typename E> void checkUnseenKeys() {
  AttentionShape s{1, 40, 40, 1, 2, 16, 16, 0.25, true, 0, 0, {0, 40}};
  s.keyShard = {40, 40};
  Case<E> c(s);
  compute(s, c);
  for (float lse : c.lse)
    EXPECT_EQ(lse, -INFINITY);
  for (const std::vector<E> *zeros : {&c.out, &c.dq, &c.dk, &c.dv})
    for (E value : *zeros)
      EXPECT_EQ(static_cast<float>(value), 0);
}

// Queries that see no key of a step have the result 0 and the weight 0 in the merge.
TEST(AttentionRing, UnseenKeysHaveNoWeight) {
  checkUnseenKeys<double>();
  checkUnseenKeys<float>();
  checkUnseenKeys<bf16>();
}

} // namespace
