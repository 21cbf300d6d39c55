// Rates of the CPU kernels at the sizes of the benchmark's models. Build the target bench-kernels
// and run it on an idle machine with OMP_NUM_THREADS. TITAN_BF16=vectors measures processors
// without AMX, TITAN_BF16=widen those without bf16 products, and TITAN_F32=blas the f32 GEMM of
// BLAS. The best of several runs counts.
#include "attention/Attention.h"
#include "gemm/Gemm.h"
#include "titan/runtime/kernel_loops.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <sys/mman.h>

using namespace titan;
using namespace titan::rt;

namespace {

/// The shortest of 15 runs.
template <typename Run> double measureSeconds(Run &&run) {
  double best = 1e9;
  for (int turn = 0; turn < 15; ++turn) {
    auto begin = std::chrono::steady_clock::now();
    run();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

/// Numbers between -1 and 1, in pages like the arena's.
template <typename T> class Numbers {
public:
  explicit Numbers(int64_t count) {
    const size_t page = 2 << 20, bytes = (static_cast<size_t>(count) * sizeof(T) / page + 1) * page;
    memory.reset(static_cast<T *>(std::aligned_alloc(page, bytes)));
    madvise(memory.get(), bytes, MADV_HUGEPAGE);
    for (int64_t i = 0; i < count; ++i)
      memory.get()[i] = static_cast<float>(i * 7919 % 201) / 100 - 1;
  }
  T *get() { return memory.get(); }

private:
  struct Free {
    void operator()(T *block) const { std::free(block); }
  };
  std::unique_ptr<T, Free> memory;
};

template <typename From, typename To>
void multiply(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, const From *a,
              const From *b, To *c) {
  gemmBatched({}, transA, transB, m, n, k, a, transA == Trans::Yes ? m : k, b,
              transB == Trans::Yes ? k : n, false, c, n);
}

template <typename From, typename To>
void measureProduct(int64_t m, int64_t n, int64_t k, const char *types) {
  Numbers<From> a(m * k), b(k * n);
  Numbers<To> c(m * n);
  std::printf("%s %5ld %5ld %5ld:", types, m, n, k);
  for (bool transA : {false, true})
    for (bool transB : {false, true}) {
      double seconds = measureSeconds(
          [&] { multiply(Trans(transA), Trans(transB), m, n, k, a.get(), b.get(), c.get()); });
      std::printf("  %s%s %5.0f", transA ? "T" : "N", transB ? "T" : "N",
                  2e-9 * static_cast<double>(m * n * k) / seconds);
    }
  std::puts(" GFLOP/s");
}

template <typename E> void measureAttention(const char *type) {
  AttentionShape s{};
  s.outer = 2, s.queries = s.keys = 512, s.kvHeads = 12, s.group = 1, s.head = s.valueHead = 64;
  s.scale = 0.125, s.causal = true;
  using T = Accumulated<E>;
  const auto sizes = scratchSizes<T>(s);
  Numbers<char> scratch(std::max(forwardBytes(sizes), backwardBytes(sizes)) * tm::threads());
  s.scratch = scratch.get();
  const int64_t count = s.outer * s.queries * s.kvHeads * s.head;
  Numbers<E> q(count), k(count), v(count), out(count), dout(count), dq(count), dk(count), dv(count);
  Numbers<T> lse(count / s.head);
  double forward =
      measureSeconds([&] { attentionForward(s, q.get(), k.get(), v.get(), out.get(), lse.get()); });
  double backward = measureSeconds([&] {
    attentionBackward(s, q.get(), k.get(), v.get(), out.get(), lse.get(), dout.get(), nullptr,
                      dq.get(), dk.get(), dv.get());
  });
  std::printf("%s causal attention, 24 x 512 x 64: forward %.2f ms, backward %.2f ms\n", type,
              1e3 * forward, 1e3 * backward);
}

void measureProducts() {
  const int64_t shapes[][3] = {{1024, 2048, 768}, {1024, 768, 2048},  {1024, 768, 768},
                               {768, 2048, 1024}, {1024, 32000, 768}, {1024, 768, 32000}};
  for (auto [m, n, k] : shapes) {
    measureProduct<float, float>(m, n, k, "f32           ");
    measureProduct<bf16, float>(m, n, k, "bf16 into f32 ");
    measureProduct<bf16, bf16>(m, n, k, "bf16 into bf16");
  }
}

void measureSum() {
  const int64_t count = 32 << 20;
  Numbers<float> numbers(count);
  float total = 0, *from = numbers.get();
  alignas(64) static char unusedContext[64]; // loops use their context only on devices
  double seconds = measureSeconds([&] {
    tm::sum(reinterpret_cast<Context &>(unusedContext), &total, count,
            [=](int64_t i) { return from[i] * from[i]; });
  });
  std::printf("sum of squares: %.1f GB/s\n", 4e-9 * static_cast<double>(count) / seconds);
}

} // namespace

int main(int count, char **arguments) {
  const std::string_view only = count > 1 ? arguments[1] : "";
  if (only.empty() || only == "attention") {
    measureAttention<bf16>("bf16");
    measureAttention<float>("f32");
  }
  if (only.empty() || only == "sum")
    measureSum();
  if (only.empty() || only == "products")
    measureProducts();
}
