// Tables of the programs that are cut into fragments. The compiler writes the tables into the
// emitted program. Compiler and runtime plan the work and the memory of each rank from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan::pipeline {

/// The work of a fragment of a program with stages: `Begin` runs once before the microbatches,
/// `Forward` and `Backward` once per microbatch, `Update` once after them, by ascending level. If a
/// stage computes weight gradients separately, `Wgrad` runs once per microbatch, after `Backward`.
/// Programs without microbatches consist of `Begin` and `Evaluate`, by ascending level.
enum class FragmentKind : uint8_t { Begin, Forward, Backward, Wgrad, Update, Evaluate };

/// Whether fragments of this kind run once per microbatch; others run once per step.
inline bool runsPerMicrobatch(FragmentKind kind) {
  return kind == FragmentKind::Forward || kind == FragmentKind::Backward ||
         kind == FragmentKind::Wgrad;
}

/// A part of a program that one stage runs: a function of the program, and the persistent
/// allocations (indices) that it reads or writes.
///
/// The code of a fragment names an allocation by its position in `uses`, so that equal fragments of
/// several stages have the same code.
struct Fragment {
  std::string function;
  FragmentKind kind;
  int stage, level = 0;
  std::vector<int> uses = {};
  /// Of `uses`: the values that other fragments compute, and those that this one computes for
  /// others.
  std::vector<int> reads = {}, writes = {};
};

/// A program that is cut into fragments. The ranks along `axis` run different stages. `schedule`
/// states the order of the work on microbatches (base/schedule/Source.h).
///
/// Allocations in `stashes` and `inputs` exist once per microbatch: `Allocation::bytes` is the size
/// of one. Before a fragment runs, the runtime sets their offset to that of the microbatch. An
/// input has all microbatches of a step, in order; a stash has as many as the schedule needs at the
/// same time.
struct Pipeline {
  std::string program; // "train"
  int axis;            // index into the mesh
  int stages;
  int64_t microbatches; // 0: a program without microbatches
  std::string schedule;
  std::vector<Fragment> fragments = {}; // in an order that is valid on one process
  std::vector<int> stashes = {}, inputs = {};
};

/// The pipelines of a program, with the allocations and functions of the program.
struct Table {
  std::vector<Pipeline> pipelines;
  std::vector<bool> isStored;         ///< per persistent allocation, whether files contain it
  std::vector<std::string> functions; ///< that the program may run
};

} // namespace titan::pipeline
