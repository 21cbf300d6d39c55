// Compares attention on the device with the CPU, forward and backward, for various shapes: lengths
// that no warp divides, groups, windows, caps, documents, a slice of the queries, several memory
// layouts of heads.
#include "device/Device.h"

#include "attention/Attention.h"

#include "tests/unit/runtime/RandomValues.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <omp.h>

using namespace titan;
using namespace titan::rt;

namespace {

struct Tensors {
  int64_t q, k, v, out, lse; // elements
  explicit Tensors(const AttentionShape &s)
      : q(s.outer * s.queries * s.kvHeads * s.group * s.head),
        k(s.outer * s.keys * s.kvHeads * s.head), v(s.outer * s.keys * s.kvHeads * s.valueHead),
        out(s.outer * s.queries * s.kvHeads * s.group * s.valueHead),
        lse(s.outer * s.queries * s.kvHeads * s.group) {}
};

/// A copy of a vector in device memory.
template <typename T> class OnDevice {
public:
  OnDevice(Device &device, const std::vector<T> &host)
      : device(device), bytes(host.size() * sizeof(T)), memory(device.allocate(bytes)) {
    device.upload(memory, host.data(), bytes);
  }
  ~OnDevice() { device.release(memory, bytes); }
  operator T *() { return reinterpret_cast<T *>(memory); }
  std::vector<T> fetch() {
    std::vector<T> host(bytes / sizeof(T));
    device.download(host.data(), memory, bytes);
    return host;
  }

private:
  Device &device;
  int64_t bytes;
  std::byte *memory;
};

template <typename T> double distance(const std::vector<T> &got, const std::vector<T> &want) {
  double difference = 0, norm = 1e-6;
  for (size_t i = 0; i < got.size(); ++i) {
    const double one = double(got[i]), other = double(want[i]);
    if (std::isinf(one) && one == other) // lse, where a query sees no key
      continue;
    difference += std::pow(one - other, 2);
    norm += std::pow(other, 2);
  }
  return std::sqrt(difference / norm);
}

constexpr int64_t kMostPositions = 75;

template <typename E> struct Values {
  using T = Accumulated<E>;
  std::vector<E> q, k, v, cotangent, out, dq, dk, dv;
  std::vector<T> lseCotangent, lse;

  explicit Values(const Tensors &n)
      : q(randomValues<E>("q", n.q)), k(randomValues<E>("k", n.k)), v(randomValues<E>("v", n.v)),
        cotangent(randomValues<E>("cotangent", n.out)), out(n.out), dq(n.q), dk(n.k), dv(n.v),
        lseCotangent(randomValues<T>("through", n.lse)), lse(n.lse) {}

  void onProcessor(AttentionShape s) {
    const attention_scratch::Sizes sizes = scratchSizes<T>(s);
    const int64_t block = std::max(forwardBytes(sizes), backwardBytes(sizes));
    std::vector<std::byte> scratch(block * omp_get_max_threads() + 64);
    void *start = scratch.data();
    size_t space = scratch.size();
    s.scratch = std::align(64, space - 64, start, space);
    attentionForward(s, q.data(), k.data(), v.data(), out.data(), lse.data());
    attentionBackward(s, q.data(), k.data(), v.data(), out.data(), lse.data(), cotangent.data(),
                      lseCotangent.data(), dq.data(), dk.data(), dv.data());
  }

  void onDevice(Device &device, AttentionShape s) {
    Context ctx;
    ctx.stream = device.stream();
    std::vector<int64_t> ids(s.outer * kMostPositions * s.kvHeads);
    if (s.documents)
      ids.assign(s.documents, s.documents + ids.size());
    OnDevice<int64_t> documents(device, ids);
    s.documents = s.documents ? static_cast<int64_t *>(documents) : nullptr;
    OnDevice<E> dQ(device, q), dK(device, k), dV(device, v), dOut(device, out),
        dCotangent(device, cotangent), gQ(device, dq), gK(device, dk), gV(device, dv);
    OnDevice<T> dLseCotangent(device, lseCotangent), dLse(device, lse);
    attention(ctx, dQ, dK, dV, dOut, dLse, s);
    attentionGrad(ctx, dCotangent, dQ, dK, dV, dOut, dLse, dLseCotangent, gQ, gK, gV, s);
    out = dOut.fetch(), lse = dLse.fetch();
    dq = gQ.fetch(), dk = gK.fetch(), dv = gV.fetch();
  }
};

int failures = 0;

template <typename E>
void check(Device &device, const char *type, const AttentionShape &s, double bound) {
  const Tensors n(s);
  Values<E> got(n), want(n);
  got.onDevice(device, s);
  want.onProcessor(s);
  const double off[] = {distance(got.out, want.out), distance(got.lse, want.lse),
                        distance(got.dq, want.dq), distance(got.dk, want.dk),
                        distance(got.dv, want.dv)};
  for (int i = 0; i < 5; ++i)
    if (!(off[i] <= bound)) {
      ++failures;
      std::printf("%s %ldx%ld/%ldx%ldx%ldx%ld/%ld%s window %ld cap %g%s: %s deviates by %g\n", type,
                  s.outer, s.queries, s.keys, s.kvHeads, s.group, s.head, s.valueHead,
                  s.causal ? " causal" : "", s.window, s.softCap, s.documents ? " documents" : "",
                  (const char *[]){"out", "lse", "dq", "dk", "dv"}[i], off[i]);
    }
}

/// Equal numbers on every machine.
int64_t draw(int64_t from, int64_t to) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return from + static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(to - from + 1));
}

AttentionShape drawShape() {
  static const int64_t heads[] = {1, 3, 8, 33, 64, 100, 256};
  AttentionShape s{};
  s.outer = draw(1, 2);
  s.keys = draw(0, 2) ? draw(1, kMostPositions) : 32;
  s.queries = draw(0, 1) ? s.keys : draw(1, s.keys);
  s.queryShard = {draw(0, s.keys - s.queries), s.queries};
  if (s.keys % 4 == 0 && draw(0, 1))
    s.queryShard = getShard(s.keys, {{2, draw(0, 1), ShardOrder::HeadTail}});
  s.queries = s.queryShard.length;
  if (s.keys % 4 == 0 && draw(0, 1)) { // a step of a ring
    s.ofDocuments = {s.keys * 2, 2, 1, 0, 1};
    s.keyShard = getShard(s.keys, {{2, 0, draw(0, 1) ? ShardOrder::HeadTail : ShardOrder::Block}},
                          draw(0, 1));
    s.keys = s.keyShard.length;
  }
  s.kvHeads = draw(1, 2);
  s.group = draw(1, 3);
  s.head = heads[draw(0, 5)];
  s.valueHead = draw(0, 1) ? s.head : heads[draw(0, 6)];
  s.scale = 1 / std::sqrt(double(s.head));
  s.causal = draw(0, 2) > 0;
  s.window = draw(0, 1) ? draw(1, 40) : 0;
  s.softCap = draw(0, 2) == 0 ? 2.5 : 0;
  return s;
}

/// Heads that exceed one pass of a warp.
AttentionShape drawLargeHeads() {
  AttentionShape s = drawShape();
  s.outer = s.group = 1;
  s.head = draw(257, 300);
  s.valueHead = draw(0, 1) ? 40 : draw(513, 520);
  return s;
}

} // namespace

int main() {
  std::unique_ptr<Device> device = makeDevice(LaunchInfo());
  std::vector<int64_t> documents(10000);
  for (size_t i = 0; i < documents.size(); ++i)
    documents[i] = static_cast<int64_t>(i / 11 % 5);
  constexpr int kCases = 66;
  for (int i = 0; i < kCases; ++i) {
    AttentionShape s = i % 11 == 10 ? drawLargeHeads() : drawShape();
    s.documents = draw(0, 2) == 0 ? documents.data() : nullptr;
    if (i % 3 == 0)
      check<double>(*device, "f64", s, 1e-12);
    else if (i % 3 == 1)
      check<float>(*device, "f32", s, 1e-5);
    else
      check<bf16>(*device, "bf16", s, 1e-2);
  }
  std::printf("%d shapes, %d deviations\n", kCases, failures);
  return failures ? 1 : 0;
}
