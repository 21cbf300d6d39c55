// Compares attention on the device with the CPU, forward and backward, for various shapes: lengths
// that no warp divides, groups, windows, caps, documents, a slice of the queries, several memory
// layouts of heads. In bf16, a shape must use LibTorch's flash attention if and only if LibTorch
// supports the shape; flash attention must not allocate more than base/kernels/FlashWorkspace.h
// says.
#include "TorchUse.h"

#include "device/Device.h"

#include "attention/Attention.h"
#include "base/kernels/FlashWorkspace.h"

#include "tests/unit/runtime/RandomValues.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <omp.h>
#include <string>
#include <utility>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// The extent in memory of each tensor: elements from the first to the last one, with gaps.
struct Extents {
  int64_t q, k, v, out, lse;
  explicit Extents(const AttentionShape &shape) {
    const AttentionShape s = withStrides(shape);
    auto getExtent = [&](const AttentionStrides &at, int64_t positions, int64_t group,
                         int64_t elements) {
      return 1 + (s.outer - 1) * at.outer + (positions - 1) * at.position +
             (s.kvHeads - 1) * at.kvHead + (group - 1) * at.group + (elements - 1) * at.element;
    };
    q = getExtent(s.q, s.queries, s.group, s.head);
    k = getExtent(s.k, s.keys, 1, s.head);
    v = getExtent(s.v, s.keys, 1, s.valueHead);
    out = getExtent(s.out, s.queries, s.group, s.valueHead);
    lse = getExtent(s.lse, s.queries, s.group, 1);
  }
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

/// The norm of the difference, relative to the norm of `want`.
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

/// The most bytes that LibTorch's tensors had at once since the last call.
int64_t takeMostBytes() {
  return std::exchange(cuda_host::torchUse.mostBytes, cuda_host::torchUse.bytes);
}

/// Operands, results and gradients of attention with elements E.
template <typename E> struct Values {
  using T = Accumulated<E>;
  std::vector<E> q, k, v, cotangent, out, dq, dk, dv;
  std::vector<T> lseCotangent, lse; // no cotangent: empty

  Values(const Extents &n, bool hasLseCotangent)
      : q(randomValues<E>("q", n.q)), k(randomValues<E>("k", n.k)), v(randomValues<E>("v", n.v)),
        cotangent(randomValues<E>("cotangent", n.out)), out(n.out, before()), dq(n.q, before()),
        dk(n.k, before()), dv(n.v, before()),
        lseCotangent(hasLseCotangent ? randomValues<T>("through", n.lse) : std::vector<T>()),
        lse(n.lse) {}

  /// The content of results before a pass, which must overwrite it.
  static E before() { return E(7.0f); }

  void onProcessor(AttentionShape s) {
    const attention_scratch::Sizes sizes = scratchSizes<T>(s);
    const int64_t block = std::max(forwardBytes(sizes), backwardBytes(sizes));
    std::vector<std::byte> scratch(block * omp_get_max_threads() + 64);
    void *start = scratch.data();
    size_t space = scratch.size();
    s.scratch = std::align(64, space - 64, start, space);
    attentionForward(s, q.data(), k.data(), v.data(), out.data(), lse.data());
    attentionBackward(s, q.data(), k.data(), v.data(), out.data(), lse.data(), cotangent.data(),
                      lseCotangent.empty() ? nullptr : lseCotangent.data(), dq.data(), dk.data(),
                      dv.data());
  }

  void onDevice(Device &device, AttentionShape s) {
    Context ctx;
    ctx.stream = device.stream();
    std::vector<int64_t> ids(s.outer * kMostPositions * s.kvHeads);
    if (s.documents)
      ids.assign(s.documents, s.documents + ids.size());
    OnDevice<int64_t> documents(device, ids);
    s.documents = s.documents ? static_cast<int64_t *>(documents) : nullptr;
    OnDevice<int64_t> start(device, std::vector<int64_t>{s.start ? *s.start : 0});
    s.start = s.start ? static_cast<int64_t *>(start) : nullptr;
    OnDevice<E> deviceQ(device, q), deviceK(device, k), deviceV(device, v), deviceOut(device, out),
        deviceCotangent(device, cotangent), deviceDq(device, dq), deviceDk(device, dk),
        deviceDv(device, dv);
    OnDevice<T> deviceLseCotangent(device, lseCotangent), deviceLse(device, lse);
    attention(ctx, deviceQ, deviceK, deviceV, deviceOut, deviceLse, s);
    inForward = takeMostBytes();
    const T *lseCotangentOrNull =
        lseCotangent.empty() ? nullptr : static_cast<T *>(deviceLseCotangent);
    attentionGrad(ctx, deviceCotangent, deviceQ, deviceK, deviceV, deviceOut, deviceLse,
                  lseCotangentOrNull, deviceDq, deviceDk, deviceDv, s);
    inBackward = takeMostBytes();
    out = deviceOut.fetch(), lse = deviceLse.fetch();
    dq = deviceDq.fetch(), dk = deviceDk.fetch(), dv = deviceDv.fetch();
  }

  int64_t inForward = 0, inBackward = 0; // bytes that LibTorch allocated
};

int failures = 0;

void expect(bool isTrue, const std::string &what) {
  if (isTrue)
    return;
  ++failures;
  std::printf("%s\n", what.c_str());
}

template <typename E>
Values<E> check(Device &device, const char *type, const AttentionShape &s, double bound,
                bool hasLseCotangent = true) {
  const Extents n(s);
  Values<E> got(n, hasLseCotangent), want(n, hasLseCotangent);
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
  return got;
}

/// A number from `from` to `to`; the sequence is the same on every machine.
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

/// The strides of [outer, kvHeads, group, positions, elements].
AttentionStrides headFirst(int64_t positions, int64_t kvHeads, int64_t group, int64_t elements) {
  const int64_t size = positions * elements;
  return {kvHeads * group * size, elements, group * size, group == 1 ? 0 : size, 1};
}

struct FlashCase {
  std::string name;
  bool isFlash; // LibTorch's flash attention must compute it
  AttentionShape shape;
  bool hasLseCotangent = false;
};

/// Shapes that LibTorch's flash attention supports, and shapes that it does not.
std::vector<FlashCase> makeFlashCases(const int64_t *documents, const int64_t *start) {
  AttentionShape usual{.outer = 2,
                       .queries = 40,
                       .keys = 40,
                       .kvHeads = 2,
                       .group = 1,
                       .head = 16,
                       .valueHead = 16,
                       .scale = 0.25,
                       .causal = true};
  std::vector<FlashCase> cases;
  auto add = [&](const std::string &name, bool isFlash, auto change) {
    AttentionShape shape = usual;
    change(shape);
    cases.push_back({name, isFlash, shape});
  };
  using Shape = AttentionShape &;
  add("causal", true, [](Shape) {});
  add("no mask", true, [](Shape s) { s.causal = false; });
  add("grouped heads", true, [](Shape s) { s.group = 3; });
  add("one head of keys", true, [](Shape s) { s.kvHeads = 1, s.group = 4; });
  add("large heads", true, [](Shape s) { s.head = s.valueHead = 256; });
  add("a causal window", true, [](Shape s) { s.window = 7, s.group = 2; });
  add("a window", true, [](Shape s) { s.causal = false, s.window = 7; });
  add("a window beyond all keys", true, [](Shape s) { s.causal = false, s.window = 90; });
  add("more keys than queries, no mask", true, [](Shape s) { s.causal = false, s.queries = 9; });
  add("fewer keys than queries, no mask", true, [](Shape s) { s.causal = false, s.keys = 9; });
  add("keys in chunks", true,
      [](Shape s) { s.outer = s.kvHeads = 1, s.causal = false, s.queries = 5, s.keys = 1030; });
  for (int64_t begin : {0, 13, 30})
    for (int64_t window : {0, 6})
      for (bool causal : {true, false})
        add("a block of the queries", true, [=](Shape s) {
          s.queries = 10, s.queryShard = {begin, 10}, s.window = window, s.causal = causal;
        });
  add("own step of a ring", true, [](Shape s) { s.queryShard = s.keyShard = {80, 40}; });
  add("head-first memory", true, [](Shape s) {
    s.group = 2;
    s.q = headFirst(s.queries, s.kvHeads, s.group, s.head);
    s.out = headFirst(s.queries, s.kvHeads, s.group, s.valueHead);
    s.k = headFirst(s.keys, s.kvHeads, 1, s.head);
    s.v = headFirst(s.keys, s.kvHeads, 1, s.valueHead);
    s.lse = headFirst(s.queries, s.kvHeads, s.group, 1);
  });
  add("rows that hold more than heads", true, [](Shape s) {
    s.q = s.out = s.k = s.v = {.outer = 40 * 104, .position = 104, .kvHead = 48, .element = 1};
  });
  cases.push_back({"a cotangent of the log-sum-exp", true, usual, true});

  add("heads of 20", false, [](Shape s) { s.head = s.valueHead = 20; });
  add("heads of 264", false, [](Shape s) { s.head = s.valueHead = 264; });
  add("other heads of values", false, [](Shape s) { s.valueHead = 24; });
  add("a cap", false, [](Shape s) { s.softCap = 2.5; });
  add("documents", false, [=](Shape s) { s.documents = documents; });
  add("a start in memory", false, [=](Shape s) { s.queries = 10, s.start = start; });
  add("one query", false, [](Shape s) { s.queries = 1, s.queryShard = {30, 1}; });
  add("head-tail order", false,
      [](Shape s) { s.queryShard = getShard(40, {{2, 0, ShardOrder::HeadTail}}), s.queries = 20; });
  add("earlier keys of a ring", false,
      [](Shape s) { s.queryShard = {40, 40}, s.keyShard = {0, 40}; });
  add("rows that are not aligned", false,
      [](Shape s) { s.k = {.outer = 40 * 36, .position = 36, .kvHead = 16, .element = 1}; });
  add("elements apart", false,
      [](Shape s) { s.v = {.outer = 40 * 64, .position = 64, .kvHead = 32, .element = 2}; });
  add("groups outside of heads", false, [](Shape s) {
    s.group = 2;
    s.q = s.out = {.outer = 40 * 64, .position = 64, .kvHead = 16, .group = 32, .element = 1};
  });
  return cases;
}

/// Checks which kernels compute the case, and the memory that LibTorch allocates. True if the
/// forward pass allocates as much as FlashWorkspace.h allows.
int checkFlash(Device &device, const FlashCase &one) {
  const AttentionShape &s = one.shape;
  cuda_host::torchUse.forward = cuda_host::torchUse.backward = 0;
  const Values<bf16> got = check<bf16>(device, one.name.c_str(), s, 1e-2, one.hasLseCotangent);
  const int backward = one.isFlash && !one.hasLseCotangent;
  expect(cuda_host::torchUse.forward == one.isFlash && cuda_host::torchUse.backward == backward,
         one.name + (one.isFlash ? ": not by flash attention" : ": by flash attention"));
  if (!one.isFlash)
    return 0;
  const flash_workspace::Sizes sizes{s.outer, s.queries, s.keys, s.kvHeads, s.group, s.head};
  const int64_t forward = forwardBytes(sizes), most = backwardBytes(sizes);
  expect(got.inForward > 0 && got.inForward <= forward,
         one.name + ": " + std::to_string(got.inForward) + " bytes, expected at most " +
             std::to_string(forward));
  expect(got.inBackward <= most && (got.inBackward > 0) == backward,
         one.name + ", backward: " + std::to_string(got.inBackward) + " bytes, expected at most " +
             std::to_string(most));
  return got.inForward == forward;
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
  const int64_t start = 17;
  const std::vector<FlashCase> cases = makeFlashCases(documents.data(), &start);
  int flash = 0, atBound = 0;
  for (const FlashCase &one : cases) {
    flash += one.isFlash;
    atBound += checkFlash(*device, one);
  }
  expect(flash >= 25 && atBound >= 20, "too few shapes use flash attention, or all of its memory");
  std::printf("%d shapes, %zu more of which %d by flash attention (%d with its largest memory), %d "
              "deviations\n",
              kCases, cases.size(), flash, atBound, failures);
  return failures ? 1 : 0;
}
