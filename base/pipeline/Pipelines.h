// The pipelines of a program on one rank: the rank's plans, allocations and functions. Plain data,
// derived from the program's table and the mesh.
//
// Without pipelines, every rank has all allocations and functions of the program.
#pragma once

#include "base/pipeline/RankPlan.h"

#include <span>

namespace titan::pipeline {

/// The plan of a step, common to all ranks of a pipeline. If the command of the program (`train`,
/// `eval`, `generate`) does not run the pipeline, only the schedule is set.
struct PlannedStep {
  schedule::Schedule schedule;
  StepOrder order;
  std::vector<Transfer> transfers;
};

/// One step per pipeline of the table. The number of transfers grows with stages and microbatches,
/// so callers that construct `Pipelines` for several ranks plan the steps once.
std::vector<PlannedStep> planSteps(const Table &table, std::span<const int64_t> degree);

class Pipelines {
public:
  /// `degree` and `coordinate` hold one number per mesh axis. `table` lacks the functions that the
  /// command does not run, but has their fragments, which determine the ranks of parameters and
  /// states.
  Pipelines(const Table &table, std::span<const int64_t> degree,
            std::span<const int64_t> coordinate)
      : Pipelines(table, planSteps(table, degree), coordinate) {}
  Pipelines(const Table &table, const std::vector<PlannedStep> &steps,
            std::span<const int64_t> coordinate);

  /// The plan of a program; null if the program is not pipelined.
  const RankPlan *find(const std::string &program) const;
  /// The function that returns a program's outputs on this rank: the last fragment of a pipelined
  /// program, or else the program itself.
  const std::string &getOutputFunction(const std::string &program) const;

  /// The number of copies of a persistent allocation on this rank: the slots of a stash, or the
  /// microbatches of an input. 0 for allocations that the rank's fragments do not use, else 1.
  int64_t getNumCopies(size_t allocation) const { return copies.empty() ? 1 : copies[allocation]; }
  /// Whether the copies of an allocation follow one another without padding, as one tensor.
  bool isPacked(size_t allocation) const;
  /// Whether this rank runs a function.
  bool runs(const std::string &function) const;
  /// Whether this rank is the first rank along the pipelines' axis that has the allocation. Rank 0
  /// has the parameters and states that no fragment uses.
  bool isHolder(size_t allocation) const { return holders.empty() || holders[allocation] == rank; }
  /// The mesh axis of the pipelines; -1 without pipelines.
  int axis() const { return meshAxis; }
  /// The distances of all messages of all ranks, ascending: the receiver's coordinate minus the
  /// sender's.
  const std::vector<int> &getMessageOffsets() const { return messageOffsets; }

private:
  struct Entry {
    std::string program;
    RankPlan plan;
    std::string lastFunction;
  };
  const Entry *findEntry(const std::string &program) const;
  void addPlan(const Table &table, const Pipeline &pipeline, const PlannedStep &step);
  void assignAllocations(const Table &table, const Pipeline &pipeline,
                         const schedule::Schedule &schedule);
  void assignUnusedToFirstRank(const Table &table);

  int meshAxis = -1, rank = 0;
  std::vector<Entry> entries;
  std::vector<int64_t> copies; ///< per persistent allocation; empty without pipelines
  std::vector<int> holders;    ///< per persistent allocation: the first rank; -1: none yet
  std::vector<int> packed;     ///< the allocations that isPacked() accepts: inputs
  std::vector<std::string> functionsOfOtherRanks;
  std::vector<int> messageOffsets;
};

} // namespace titan::pipeline
