#include "titan/runtime/attention.h"
#include "titan/runtime/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <omp.h>
#include <ostream>
#include <vector>

using namespace titan::rt;

namespace titan::rt {
void PrintTo(const AttentionShape &s, std::ostream *os) {
  *os << s.outer << "x" << s.seq << "x" << s.kvHeads << "x" << s.group << "x" << s.head
      << (s.causal ? " causal" : "");
}
} // namespace titan::rt

namespace {

template <typename T> std::vector<T> randomValues(const char *name, int64_t count) {
  RandomStream stream(1, "test", name);
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(stream.normal(i));
  return values;
}

/// Inputs and results of one attention, forward and backward.
template <typename T> struct Case {
  std::vector<T> q, k, v, dout, out, lse, dq, dk, dv;

  explicit Case(const AttentionShape &s) {
    int64_t kv = s.outer * s.seq * s.kvHeads * s.head;
    q = randomValues<T>("q", kv * s.group);
    k = randomValues<T>("k", kv);
    v = randomValues<T>("v", kv);
    dout = randomValues<T>("dout", kv * s.group);
    out.assign(q.size(), NAN), dq.assign(q.size(), NAN);
    dk.assign(k.size(), NAN), dv.assign(k.size(), NAN);
    lse.assign(q.size() / s.head, NAN);
  }
};

/// The definition, written down plainly.
template <typename T> void reference(const AttentionShape &s, Case<T> &c) {
  std::fill(c.dq.begin(), c.dq.end(), 0), std::fill(c.dk.begin(), c.dk.end(), 0);
  std::fill(c.dv.begin(), c.dv.end(), 0);
  auto key = [&](int64_t o, int64_t j, int64_t h) { return ((o * s.seq + j) * s.kvHeads + h); };
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t h = 0; h < s.kvHeads; ++h)
      for (int64_t g = 0; g < s.group; ++g)
        for (int64_t i = 0; i < s.seq; ++i) {
          int64_t row = key(o, i, h) * s.group + g;
          int64_t visible = s.causal ? i + 1 : s.seq;
          std::vector<T> p(visible), dp(visible);
          T top = -INFINITY, total = 0, mean = 0;
          for (int64_t j = 0; j < visible; ++j) {
            for (int64_t d = 0; d < s.head; ++d)
              p[j] += c.q[row * s.head + d] * c.k[key(o, j, h) * s.head + d];
            p[j] *= static_cast<T>(s.scale);
            top = std::max(top, p[j]);
          }
          for (T &value : p)
            total += value = std::exp(value - top);
          c.lse[row] = top + std::log(total);
          for (int64_t d = 0; d < s.head; ++d)
            c.out[row * s.head + d] = 0;
          for (int64_t j = 0; j < visible; ++j) {
            p[j] /= total;
            for (int64_t d = 0; d < s.head; ++d) {
              c.out[row * s.head + d] += p[j] * c.v[key(o, j, h) * s.head + d];
              c.dv[key(o, j, h) * s.head + d] += p[j] * c.dout[row * s.head + d];
              dp[j] += c.dout[row * s.head + d] * c.v[key(o, j, h) * s.head + d];
            }
            mean += p[j] * dp[j];
          }
          for (int64_t j = 0; j < visible; ++j)
            for (int64_t d = 0; d < s.head; ++d) {
              T ds = p[j] * (dp[j] - mean) * static_cast<T>(s.scale);
              c.dq[row * s.head + d] += ds * c.k[key(o, j, h) * s.head + d];
              c.dk[key(o, j, h) * s.head + d] += ds * c.q[row * s.head + d];
            }
        }
}

template <typename T> void compute(const AttentionShape &s, Case<T> &c) {
  attentionForward(s, c.q.data(), c.k.data(), c.v.data(), c.out.data(), c.lse.data());
  attentionBackward(s, c.q.data(), c.k.data(), c.v.data(), c.out.data(), c.lse.data(),
                    c.dout.data(), c.dq.data(), c.dk.data(), c.dv.data());
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
  if (s.seq > 1) { // one key has probability 1, so no gradient reaches q and k
    EXPECT_LE(distance(got.dq, want.dq), bound);
    EXPECT_LE(distance(got.dk, want.dk), bound);
  }
}

class Attention : public testing::TestWithParam<AttentionShape> {};

// In float64 the kernel and the plain definition agree to 1e-12, forward and backward.
TEST_P(Attention, MatchesTheDefinitionInDouble) {
  compareWithReference<double>(GetParam(), 1e-12);
}

// In float32 they agree to its rounding.
TEST_P(Attention, MatchesTheDefinitionInFloat) {
  compareWithReference<float>(GetParam(), 3e-6);
}

// Lengths around every block boundary, head dimensions that fill vectors and that do not, groups.
INSTANTIATE_TEST_SUITE_P(Shapes, Attention,
                         testing::Values(AttentionShape{2, 64, 2, 1, 16, 0.25, true},
                                         AttentionShape{1, 1, 1, 1, 8, 1.0, true},
                                         AttentionShape{1, 31, 2, 3, 5, 0.4, true},
                                         AttentionShape{1, 33, 1, 2, 1, 1.0, true},
                                         AttentionShape{2, 97, 2, 4, 24, 0.2, true},
                                         AttentionShape{1, 130, 1, 2, 64, 0.125, true},
                                         AttentionShape{1, 65, 1, 1, 128, 0.09, true},
                                         AttentionShape{1, 70, 2, 2, 20, 0.2, false},
                                         AttentionShape{1, 160, 1, 1, 16, 0.25, false}));

// Large scores neither overflow nor lose the softmax.
TEST(AttentionNumerics, LargeScores) {
  AttentionShape shape{1, 80, 1, 1, 16, 30.0, true};
  compareWithReference<double>(shape, 1e-10);
  Case<float> c(shape);
  compute(shape, c);
  for (float value : c.dq)
    ASSERT_TRUE(std::isfinite(value));
}

// bf16 is widened where it is read and rounded where it is written: against the definition in float
// the results have bf16's rounding and no more, lse none.
TEST_P(Attention, RoundsBfloat16Once) {
  const AttentionShape &s = GetParam();
  Case<float> want(s);
  auto narrow = [](std::vector<float> &values) {
    std::vector<bf16> result(values.begin(), values.end());
    values.assign(result.begin(), result.end());
    return result;
  };
  std::vector<bf16> q = narrow(want.q), k = narrow(want.k), v = narrow(want.v),
                    dout = narrow(want.dout), out(q.size()), dq(q.size()), dk(k.size()),
                    dv(k.size());
  std::vector<float> lse(want.lse.size());
  attentionForward(s, q.data(), k.data(), v.data(), out.data(), lse.data());
  attentionBackward(s, q.data(), k.data(), v.data(), out.data(), lse.data(), dout.data(),
                    dq.data(), dk.data(), dv.data());
  reference(s, want);
  auto wide = [](const std::vector<bf16> &values) {
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_LE(distance(lse, want.lse), 3e-6);
  EXPECT_LE(distance(wide(out), want.out), 0x1p-8);
  EXPECT_LE(distance(wide(dv), want.dv), 0x1p-8);
  if (s.seq > 1) { // these also depend on the rounded output
    EXPECT_LE(distance(wide(dq), want.dq), 0x1p-7);
    EXPECT_LE(distance(wide(dk), want.dk), 0x1p-7);
  }
}

// Any number of threads gives the same bits.
TEST(AttentionNumerics, DoesNotDependOnThreads) {
  AttentionShape shape{3, 70, 3, 2, 16, 0.25, true};
  Case<float> one(shape), three(shape);
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  compute(shape, one);
  omp_set_num_threads(3);
  compute(shape, three);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.out, three.out);
  EXPECT_EQ(one.dq, three.dq);
  EXPECT_EQ(one.dk, three.dk);
  EXPECT_EQ(one.dv, three.dv);
}

} // namespace
