// Times of reading weights of other software, against copying as many bytes. Build the target
// bench-weights; bench/weights.py makes the file, starts this and measures PyTorch.
//
//   bench-weights FILE.safetensors f32|f64|bf16 [ROUNDS]
//
// The names of FILE's tensors begin with the name of their layout (see `makeEntry`). For each
// layout, the program prints a line: the layout, bytes read and written, the seconds of reading to
// fresh memory, of reading to memory in use, and of copying. All are processor seconds, user and
// system, which other processes do not change. The copy moves as many bytes as reading reads and
// writes together: it reads half of the sum and writes half. Rounds of both alternate; the least of
// each is printed.
//
//   bench-weights FILE.safetensors f32|f64|bf16 cold
//
// removes the file from the system's cache first, reads once and prints the layout, bytes read and
// seconds by the clock. The disk of a virtual machine may have further caches, which remain filled.
#include "device/Device.h"
#include "files/Populate.h"
#include "weights/StartingWeights.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <numeric>
#include <unistd.h>

using namespace titan;
using namespace titan::rt;

namespace {

/// Seconds of all processors that the process used.
double measureSeconds(const auto &work) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  work();
  return now() - start;
}

std::vector<int64_t> rowMajor(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
    strides[d] = stride;
  return strides;
}

/// One parameter of a stored matrix [out, in]:
///   plain        [out, in]
///   transposed   [in, out]
///   fused        the middle third of the rows, transposed
///   interleaved  [in, head, pair, half] of heads of 128 rows (half, pair)
StoredParameter makeEntry(const std::string &name, const std::vector<int64_t> &shape) {
  const std::string layout = name.substr(0, name.find('.'));
  const int64_t out = shape[0], in = shape[1], half = 64;
  StoredParameter entry{name, name, shape, 0, shape, rowMajor(shape)};
  if (layout == "transposed") {
    entry.sizes = {in, out};
    entry.strides = {1, in};
  } else if (layout == "fused") {
    entry.start = out / 3 * in;
    entry.sizes = {in, out / 3};
    entry.strides = {1, in};
  } else if (layout == "interleaved") {
    entry.sizes = {in, out / (2 * half), half, 2};
    entry.strides = {1, 2 * half * in, in, half * in};
  }
  return entry;
}

int64_t countElements(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Memory for parameters, as a program has it.
class Arena {
public:
  explicit Arena(int64_t bytes) : bytes(bytes), memory(device->allocate(bytes)) {}
  ~Arena() { device->release(memory, bytes); }
  Arena(const Arena &) = delete;
  std::byte *data() const { return memory; }

private:
  inline static const std::unique_ptr<Device> device = makeDevice({});
  int64_t bytes;
  std::byte *memory;
};

/// The tensors of one layout in a file, read as a program reads them.
class LayoutBench {
public:
  LayoutBench(const std::string &path, const std::string &layout, DType type) : type(type) {
    stores.emplace_back(path);
    for (const std::string &name : stores[0].names())
      if (name.starts_with(layout + ".")) {
        map.parameters.push_back(makeEntry(name, stores[0].find(name)->shape));
        const StoredParameter &entry = map.parameters.back();
        needed.push_back({"parameter " + name, name, {}, entry.sizes, type});
        elements += countElements(entry.sizes);
        storedBytes += countElements(entry.sizes) * std::ssize(stores[0].find(name)->bytes) /
                       countElements(entry.shape);
      }
    if (needed.empty())
      return;
    map.format = "hf";
    map.unused = {"*"};
    weights.emplace(map, sources, stores);
    weights->match(needed);
  }

  int64_t bytesRead() const { return storedBytes; }
  int64_t bytesWritten() const { return elements * getByteSize(type); }

  /// Seconds of reading all parameters to `to`. `isFresh`: the first use of this memory.
  double read(std::byte *to, bool isFresh) {
    return measureSeconds([&] {
      for (size_t i = 0; i < needed.size(); ++i) {
        const ElementRows row{.first = 0, .columns = countElements(needed[i].shape)};
        weights->read(i, std::span(&row, 1), to);
        to += row.columns * getByteSize(type);
        if (isFresh)
          weights->release();
      }
    });
  }

  /// Seconds of copying as many bytes as `read` reads and writes.
  double copy(std::byte *to, bool isFresh) {
    const std::span<const std::byte> from = stores[0].find(map.parameters[0].tensor)->bytes;
    const int64_t bytes = (bytesRead() + bytesWritten()) / 2, segment = int64_t{1} << 20;
    return measureSeconds([&] {
      if (isFresh)
        populate({to, static_cast<size_t>(bytesWritten())});
#pragma omp parallel for schedule(dynamic)
      for (int64_t at = 0; at < bytes; at += segment) {
        const auto size = static_cast<size_t>(std::min(segment, bytes - at));
        std::memcpy(to + at, from.data() + at % (std::ssize(from) - segment), size);
      }
      if (isFresh)
        weights->release();
    });
  }

private:
  DType type;
  WeightMap map;
  std::vector<WeightSource> sources = {WeightSource{}};
  std::vector<WeightStore> stores;
  std::vector<NeededWeights> needed;
  std::optional<StartingWeights> weights;
  int64_t elements = 0, storedBytes = 0;
};

/// The least seconds of a run in fresh memory and in memory in use.
struct LeastSeconds {
  double fresh = 1e9, used = 1e9;
  void update(const auto &run, int64_t bytes) {
    const Arena arena(bytes);
    fresh = std::min(fresh, run(arena.data(), true));
    used = std::min(used, run(arena.data(), false));
  }
};

void measure(const std::string &path, const std::string &layout, DType type, int rounds) {
  LayoutBench bench(path, layout, type);
  if (bench.bytesRead() == 0)
    return;
  LeastSeconds read, copy;
  for (int round = 0; round < rounds; ++round) {
    read.update([&](std::byte *to, bool isFresh) { return bench.read(to, isFresh); },
                bench.bytesWritten());
    copy.update([&](std::byte *to, bool isFresh) { return bench.copy(to, isFresh); },
                std::max(bench.bytesRead(), bench.bytesWritten()));
  }
  std::printf("%s %lld %lld %.6f %.6f %.6f %.6f\n", layout.c_str(),
              static_cast<long long>(bench.bytesRead()),
              static_cast<long long>(bench.bytesWritten()), read.fresh, read.used, copy.fresh,
              copy.used);
  std::fflush(stdout);
}

/// Removes clean pages of the file from the cache.
void evict(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ::fsync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

void measureCold(const std::string &path, const std::string &layout, DType type) {
  evict(path); // before the file is mapped: mapped pages stay
  LayoutBench bench(path, layout, type);
  if (bench.bytesRead() == 0)
    return;
  const Arena arena(bench.bytesWritten());
  const auto start = std::chrono::steady_clock::now();
  bench.read(arena.data(), true);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s %lld %.6f\n", layout.c_str(), static_cast<long long>(bench.bytesRead()),
              seconds.count());
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: bench-weights FILE f32|f64|bf16 [ROUNDS|cold]\n"), 2;
  const std::string name = argv[2];
  const DType type = name == "f64" ? DType::F64 : name == "bf16" ? DType::BF16 : DType::F32;
  const std::string rounds = argc > 3 ? argv[3] : "5";
  for (const char *layout : {"plain", "transposed", "fused", "interleaved"})
    if (rounds == "cold")
      measureCold(argv[1], layout, type);
    else
      measure(argv[1], layout, type, std::atoi(rounds.c_str()));
}
