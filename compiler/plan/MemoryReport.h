// The memory that a rank will use, in bytes, computed at compile time. The arena is exact: the
// program computes the same plan at start-up (base/arena/ArenaPlanner.h). The memory of libraries
// is a measured constant. tests/memory compares both with the operating system's figures.
#pragma once

#include "base/pipeline/Pipelines.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace titan::plan {

/// The transient memory of one program in bytes, and its composition at the event with the most
/// live bytes.
struct ProgramMemory {
  std::string program; ///< "train"
  int64_t bytes = 0;
  int64_t gradients = 0;
  int64_t activations = 0;   ///< residuals and all other intermediate values
  int64_t inputsOutputs = 0; ///< tokens, labels, loss, logits
  int64_t scratch = 0;       ///< of kernels, once per thread
  /// Of all residuals: what repeats of the forward pass stack for those of the backward pass. They
  /// are alive together when the backward pass starts. 0 in a pipeline, whose stashes contain them.
  int64_t residuals = 0;
  int64_t getGaps() const { return bytes - gradients - activations - inputsOutputs - scratch; }
  /// The operation at that event; no file if it has no source line.
  std::string operation, file;
  unsigned line = 0;
};

/// Bytes of the code and libraries of a CPU program that trains: without LibTorch, and with it. A
/// program loads LibTorch for its BLAS or for collectives.
constexpr int64_t kLibraries = 7'800'000;
constexpr int64_t kLibrariesWithLibTorch = 78'000'000;
/// Bytes of pack buffers. MKL, per thread: for large matrices, and for bf16.
constexpr int64_t kPackingPerThread = 21'000'000;
constexpr int64_t kNarrowPackingPerThread = 10'000'000;
/// AMX kernels (runtime/lib/gemm/AmxGemm.cpp): per thread for bf16, in total for f32.
constexpr int64_t kTilePackingPerThread = 2'621'440;
constexpr int64_t kTilePackingOfFloats = 9'437'184;
/// Vector kernels (runtime/lib/gemm/BlockedGemm.cpp), at most: in total, per thread, and for sums
/// before their rounding to bf16.
constexpr int64_t kVectorPacking = 2'424'832;
constexpr int64_t kVectorPackingPerThread = 524'288;
constexpr int64_t kVectorSums = 3'145'728;

/// The CPU or the CUDA device of a rank.
struct Processor {
  int64_t threads = 1;     ///< the threads that need scratch; 0 on devices
  bool hasTiles = false;   ///< AMX
  bool hasVectors = false; ///< AVX-512 or AVX2
  bool isCuda = false;

  static constexpr Processor cuda() {
    return {.threads = 0, .hasTiles = false, .hasVectors = false, .isCuda = true};
  }
};

/// A bucket of tensors that are stored block by block (docs/rationale/flat-storage.md): the number
/// of blocks and the bytes per block. Of parameters or of optimizer states.
struct StoredBlocks {
  std::string name;
  int64_t blocks = 0, bytes = 0;
  bool isState = false;
};

/// Bytes per rank. Programs share transient memory, because one program runs at a time.
struct MemoryReport {
  int64_t parameters = 0;
  int64_t buffers = 0;
  int64_t optimizer = 0;
  int64_t scalars = 0;     ///< learning rate, step
  int64_t caches = 0;      ///< of generation: its caches and the position
  int64_t batchCaches = 0; ///< likewise, for several prompts at once
  int64_t stashes = 0;     ///< of a pipeline: values that exist once per microbatch, in all slots
  int64_t stepValues = 0;  ///< of a pipeline: sums over microbatches, values of a step
  int64_t inputs = 0;      ///< of a pipeline: the inputs of all microbatches
  int64_t parametersOnHost = 0; ///< offloaded parameters and buffers
  int64_t optimizerOnHost = 0;  ///< offloaded optimizer state
  /// Outside the arena: pack buffers of matrix products on CPUs, the workspace of cuBLAS and, at
  /// most, that of flash attention on devices.
  int64_t gemmWorkspace = 0, flashAttention = 0;
  /// Outside the arena, at most: values of several pieces, packed for collectives (Packing.h).
  int64_t packing = 0;
  int64_t libraries = kLibraries;   ///< in memory of the host
  std::vector<StoredBlocks> blocks; ///< buckets of parameters and optimizer states
  std::vector<ProgramMemory> programs;

  int64_t getPersistent() const {
    return parameters + buffers + optimizer + scalars + stashes + stepValues + inputs;
  }
  /// Null if there is no program of this name.
  const ProgramMemory *find(llvm::StringRef program) const;
  /// The maximum over the programs of a training run: steps and evaluations.
  int64_t getTransient() const;
  /// The bytes in memory of the host that a device accesses.
  int64_t getOnHost() const { return parametersOnHost + optimizerOnHost; }
  int64_t getOnDevice() const { return getPersistent() + getTransient() + getWorkspace(); }
  int64_t getWorkspace() const { return gemmWorkspace + flashAttention + packing; }
  /// The memory that a training run uses, without loaded libraries.
  int64_t getTraining() const { return getOnDevice() + getOnHost(); }
};

/// The bytes of one copy of an allocation on a rank.
int64_t getBytes(ir::AllocationAttr allocation, const dist::Degrees &degrees, int64_t threads = 1);

/// One report for each of `ranks` (planRanks). Requires a module after the memory phase. `degrees`
/// has a number for every axis, also for one of degree `auto`.
std::vector<MemoryReport> reportMemory(mlir::ModuleOp module, const dist::Degrees &degrees,
                                       const Processor &processor,
                                       const std::vector<pipeline::Pipelines> &ranks);

} // namespace titan::plan
