// f32 products of Titan beside those of other libraries, at the sizes of the benchmark's models: in
// one process and in turns, so that all libraries see the same machine.
//
//   bench-peer-products NAME=LIBRARY ...    e.g.
//   openblas=/usr/lib/x86_64-linux-gnu/libopenblas.so.0
//
// A library exports the BLAS routine `sgemm_` (OpenBLAS, BLIS, MKL, LibTorch) or oneDNN's
// `dnnl_sgemm`. The table has, for each product and library, the median of the GFLOP/s of eleven
// rounds; then, for each library:
//   - a checksum of the result, to compare runs with different OMP_NUM_THREADS,
//   - the largest error relative to the magnitude of the terms, in units of 2^-24, against f64,
//   - the heap allocations of one product after the first.
#include "gemm/Gemm.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using titan::rt::Trans;

// The allocation functions of this process: they count calls and forward to glibc's.
static std::atomic<int64_t> allocations;
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) {
  return ++allocations, __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  return ++allocations, __libc_calloc(count, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return ++allocations, __libc_memalign(alignment, size);
}
void *memalign(size_t alignment, size_t size) {
  return aligned_alloc(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  *result = aligned_alloc(alignment, size);
  return *result ? 0 : ENOMEM;
}
}

namespace {

struct Shape {
  bool transA, transB;
  int64_t m, n, k;
};

/// C = op(A) op(B), row-major and dense.
using Product = std::function<void(const Shape &, const float *, const float *, float *)>;

struct Library {
  std::string name;
  Product multiply;
};

void multiplyHere(const Shape &s, const float *a, const float *b, float *c) {
  gemmBatched({}, Trans(s.transA), Trans(s.transB), s.m, s.n, s.k, a, s.transA ? s.m : s.k, b,
              s.transB ? s.k : s.n, false, c, s.n);
}

using BlasSgemm = void(const char *, const char *, const int *, const int *, const int *,
                       const float *, const float *, const int *, const float *, const int *,
                       const float *, float *, const int *);

/// Column-major BLAS computes a row-major product as its transpose: C' = op(B)' op(A)'.
Product wrapBlas(BlasSgemm *sgemm) {
  return [sgemm](const Shape &s, const float *a, const float *b, float *c) {
    const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
    const int lda = s.transA ? m : k, ldb = s.transB ? k : n;
    const float one = 1, zero = 0;
    sgemm(s.transB ? "T" : "N", s.transA ? "T" : "N", &n, &m, &k, &one, b, &ldb, a, &lda, &zero, c,
          &n);
  };
}

using DnnlSgemm = int(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                      const float *, int64_t, float, float *, int64_t);

Product wrapDnnl(DnnlSgemm *sgemm) {
  return [sgemm](const Shape &s, const float *a, const float *b, float *c) {
    sgemm(s.transA ? 'T' : 'N', s.transB ? 'T' : 'N', s.m, s.n, s.k, 1, a, s.transA ? s.m : s.k, b,
          s.transB ? s.k : s.n, 0, c, s.n);
  };
}

Library open(const std::string &argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    std::fprintf(stderr, "'%s' is not NAME=LIBRARY\n", argument.c_str());
    std::exit(2);
  }
  void *library = dlopen(argument.c_str() + equals + 1, RTLD_NOW | RTLD_LOCAL);
  const std::string name = argument.substr(0, equals);
  if (!library) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), dlerror());
    std::exit(1);
  }
  if (void *dnnl = dlsym(library, "dnnl_sgemm"))
    return {name, wrapDnnl(reinterpret_cast<DnnlSgemm *>(dnnl))};
  if (void *sgemm = dlsym(library, "sgemm_"))
    return {name, wrapBlas(reinterpret_cast<BlasSgemm *>(sgemm))};
  std::fprintf(stderr, "%s exports neither sgemm_ nor dnnl_sgemm\n", name.c_str());
  std::exit(1);
}

/// Pseudo-random numbers in [-1, 1), by a linear congruential generator (Knuth's MMIX constants).
std::vector<float> makeNumbers(int64_t count, uint64_t state) {
  std::vector<float> result(count);
  for (float &number : result) {
    state = state * 6364136223846793005 + 1442695040888963407;
    number = static_cast<float>(static_cast<int64_t>(state >> 40) - (1 << 23)) / (1 << 23);
  }
  return result;
}

/// FNV-1a of the bits, number by number.
uint32_t computeChecksum(const std::vector<float> &values) {
  uint32_t hash = 2166136261;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 16777619;
  }
  return hash;
}

/// The largest error among 2,000 elements of C against f64, relative to the sum of the absolute
/// values of the terms, in units of 2^-24.
double computeError(const Shape &s, const float *a, const float *b, const std::vector<float> &c) {
  double largest = 0;
  for (int64_t at = 0, step = std::max<int64_t>(1, s.m * s.n / 2000); at < s.m * s.n; at += step) {
    double sum = 0, magnitude = 0;
    for (int64_t k = 0, i = at / s.n, j = at % s.n; k < s.k; ++k) {
      const double term = double(s.transA ? a[k * s.m + i] : a[i * s.k + k]) *
                          (s.transB ? b[j * s.k + k] : b[k * s.n + j]);
      sum += term, magnitude += std::fabs(term);
    }
    largest = std::max(largest, std::fabs(c[at] - sum) / magnitude);
  }
  return largest * (1 << 24);
}

/// All libraries on one shape, in turns.
class Comparison {
public:
  Comparison(const std::vector<Library> &libraries, const Shape &shape)
      : libraries(libraries), s(shape), a(makeNumbers(s.m * s.k, 1)), b(makeNumbers(s.k * s.n, 2)),
        c(s.m * s.n), rates(libraries.size()), checks(libraries.size()) {}

  void run() {
    for (int round = 0; round < 11; ++round)
      for (size_t l = 0; l < libraries.size(); ++l) {
        // Threads of the previous library may still spin while they wait for work.
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        multiply(l, round == 1);
      }
    print();
  }

private:
  void multiply(size_t l, bool isChecked) {
    const int64_t before = allocations;
    auto begin = std::chrono::steady_clock::now();
    libraries[l].multiply(s, a.data(), b.data(), c.data());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const int64_t made = allocations - before;
    rates[l].push_back(2e-9 * static_cast<double>(s.m * s.n * s.k) / took.count());
    if (!isChecked)
      return;
    char text[64];
    std::snprintf(text, sizeof text, " %08x %.2f %ld", computeChecksum(c),
                  computeError(s, a.data(), b.data(), c), static_cast<long>(made));
    checks[l] = text;
  }

  void print() {
    std::printf("%c%c %5ld %5ld %5ld |", s.transA ? 'T' : 'N', s.transB ? 'T' : 'N',
                static_cast<long>(s.m), static_cast<long>(s.n), static_cast<long>(s.k));
    for (std::vector<double> &rate : rates) {
      std::nth_element(rate.begin(), rate.begin() + rate.size() / 2, rate.end());
      std::printf(" %8.1f", rate[rate.size() / 2]);
    }
    std::printf(" |");
    for (const std::string &check : checks)
      std::printf("%s", check.c_str());
    std::puts("");
    std::fflush(stdout);
  }

  const std::vector<Library> &libraries;
  const Shape s;
  const std::vector<float> a, b;
  std::vector<float> c;
  std::vector<std::vector<double>> rates;
  std::vector<std::string> checks;
};

} // namespace

int main(int count, char **arguments) {
  std::vector<Library> libraries{{"titan", multiplyHere}};
  for (int i = 1; i < count; ++i)
    libraries.push_back(open(arguments[i]));
  std::printf("op     m     n     k |");
  for (const Library &library : libraries)
    std::printf(" %8s", library.name.c_str());
  std::puts(" | checksum, error and allocations of each");
  // Forward, gradient of the input, gradient of the weight: projections of GPT-2 124M and of a
  // Llama of 134M with 2 x 512 tokens, the head of both, and llama3_debug.
  const Shape shapes[] = {{false, false, 1024, 2048, 768}, {false, true, 1024, 768, 2048},
                          {true, false, 768, 2048, 1024},  {false, false, 1024, 768, 768},
                          {false, true, 1024, 768, 768},   {true, false, 768, 768, 1024},
                          {false, true, 256, 32000, 768},  {false, false, 256, 768, 32000},
                          {true, false, 32000, 768, 256},  {false, false, 2048, 256, 768},
                          {false, false, 2048, 768, 256},  {true, false, 256, 768, 2048},
                          {false, false, 128, 128, 128},   {true, false, 256, 256, 65536}};
  for (const Shape &shape : shapes)
    Comparison(libraries, shape).run();
}
