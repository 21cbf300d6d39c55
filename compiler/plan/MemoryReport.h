// What a rank's memory holds, before anything runs. Its arena exactly: it is the same plan that the
// program makes at start-up (base/arena/ArenaPlanner.h). What libraries take beside it is
// measured; tests/memory holds both against what the system observes.
#ifndef TITAN_COMPILER_PLAN_MEMORYREPORT_H
#define TITAN_COMPILER_PLAN_MEMORYREPORT_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace titan::plan {

/// What lies within one program's run, in bytes: its extent, and what it is made of at the event at
/// which the most lives.
struct ProgramMemory {
  std::string program; ///< "train"
  int64_t bytes = 0;
  int64_t gradients = 0;
  int64_t activations = 0;   ///< residuals, and everything else that is computed on the way
  int64_t inputsOutputs = 0; ///< what the runtime gives and takes: tokens, labels, loss, logits
  int64_t scratch = 0;       ///< working memory of kernels, a block for each thread
  int64_t getGaps() const { return bytes - gradients - activations - inputsOutputs - scratch; }
  /// What runs at that event; no file where no line stands for it.
  std::string operation, file;
  unsigned line = 0;
};

/// Of a processor's program that has its code and its libraries loaded, once it trains; and of one
/// that has loaded LibTorch, too, for its BLAS or to meet other processes.
constexpr int64_t kLibraries = 7'000'000;
constexpr int64_t kLibrariesWithLibTorch = 78'000'000;
/// What MKL keeps for each thread to pack panels of matrices, as soon as they are large; of bf16;
/// and what the kernels on a processor's tiles keep instead, of bf16 for each thread, of f32 for
/// all of them; and at most those on its vectors, for all, for each thread, and of sums that wait
/// to be rounded to bf16 (runtime/lib/gemm/AmxGemm.cpp, BlockedGemm.cpp).
constexpr int64_t kPackingPerThread = 21'000'000;
constexpr int64_t kNarrowPackingPerThread = 10'000'000;
constexpr int64_t kTilePackingPerThread = 2'621'440;
constexpr int64_t kTilePackingOfFloats = 9'437'184;
constexpr int64_t kVectorPacking = 2'424'832;
constexpr int64_t kVectorPackingPerThread = 524'288;
constexpr int64_t kVectorSums = 3'145'728;

/// What a rank runs on.
struct Processor {
  int64_t threads = 1;
  bool hasTiles = false;   ///< it multiplies on tiles (AMX)
  bool hasVectors = false; ///< and, with tiles or without, on vectors of AVX-512 or AVX2
};

/// What is stored by block (docs/rationale/flat-storage.md): of so many blocks, each in one stretch
/// of so many bytes. Parameters', or those of an optimizer's state.
struct StoredBlocks {
  std::string name;
  int64_t blocks = 0, bytes = 0;
  bool isState = false;
};

/// Bytes on one rank. One program runs at a time, so programs share memory.
struct MemoryReport {
  int64_t parameters = 0;
  int64_t buffers = 0;
  int64_t optimizer = 0;
  int64_t scalars = 0;     ///< learning rate, step
  int64_t gemmPacking = 0; ///< what products of matrices keep beside the arena on processors
  int64_t libraries = kLibraries;
  std::vector<StoredBlocks> blocks; ///< what of parameters and optimizer is by block
  std::vector<ProgramMemory> programs;

  int64_t getPersistent() const { return parameters + buffers + optimizer + scalars; }
  /// Null if there is none of this name.
  const ProgramMemory *find(llvm::StringRef program) const;
  /// Of a training run's programs, the steps' and that of the evaluations between them, the most.
  int64_t getTransient() const;
  /// What a training run touches, beside loaded libraries.
  int64_t getTraining() const { return getPersistent() + getTransient() + gemmPacking; }
};

/// For a module behind the memory phase, with every `auto` degree given a value.
MemoryReport reportMemory(mlir::ModuleOp module, const dist::Degrees &degrees,
                          const Processor &processor);

} // namespace titan::plan

#endif
