// The pipelines of a program as one rank sees them: its plans, and which part of the program's
// memory and functions it has. Plain data, derived from the program's table and the mesh.
//
// A program without pipelines is whole on every rank.
#pragma once

#include "base/pipeline/RankPlan.h"

#include <span>

namespace titan::pipeline {

/// What all ranks of a pipeline share. Of a pipeline that the command does not run, the schedule.
struct PlannedStep {
  schedule::Schedule schedule;
  StepOrder order;
  std::vector<Transfer> transfers;
};

/// One step per pipeline of the table. Their number of transfers grows with stages and
/// microbatches, so whoever looks at several ranks computes them once.
std::vector<PlannedStep> planSteps(const Table &table, std::span<const int64_t> degree);

class Pipelines {
public:
  /// `degree` and `coordinate` hold one number per mesh axis. Functions that the command does not
  /// run are missing in `table`; their fragments still say where parameters and states are.
  Pipelines(const Table &table, std::span<const int64_t> degree,
            std::span<const int64_t> coordinate)
      : Pipelines(table, planSteps(table, degree), coordinate) {}
  Pipelines(const Table &table, const std::vector<PlannedStep> &steps,
            std::span<const int64_t> coordinate);

  /// The plan of a program; null if it is no pipeline.
  const RankPlan *find(const std::string &program) const;
  /// The function that returns a program's outputs on this rank: the last fragment of a pipeline,
  /// otherwise the program itself.
  const std::string &getOutputFunction(const std::string &program) const;

  /// How many copies of a persistent allocation this rank has: the slots of a stash, the
  /// microbatches of an input, 0 of what its fragments do not use, otherwise 1.
  int64_t getNumCopies(size_t allocation) const { return copies.empty() ? 1 : copies[allocation]; }
  /// Whether the copies of an allocation follow one another without padding, as one tensor.
  bool isPacked(size_t allocation) const;
  /// Whether this rank runs a function.
  bool runs(const std::string &function) const;
  /// Whether this rank is the first along the pipelines' axis that has an allocation. Parameters
  /// and states that no fragment uses are on rank 0.
  bool isHolder(size_t allocation) const { return holders.empty() || holders[allocation] == rank; }
  /// The mesh axis of the pipelines; -1 without pipelines.
  int axis() const { return meshAxis; }
  /// The distances of all messages of all ranks, ascending: the receiver's coordinate minus the
  /// sender's.
  const std::vector<int> &offsets() const { return messageOffsets; }

private:
  struct Entry {
    std::string program;
    RankPlan plan;
    std::string lastFunction;
  };
  const Entry *findEntry(const std::string &program) const;
  void add(const Table &table, const Pipeline &pipeline, const PlannedStep &step);
  void findMemory(const Table &table, const Pipeline &pipeline, const schedule::Schedule &schedule);

  void holdUnused(const Table &table);

  int meshAxis = -1, rank = 0;
  std::vector<Entry> entries;
  std::vector<int64_t> copies;        ///< per persistent allocation; empty without pipelines
  std::vector<int> holders;           ///< per persistent allocation: the first rank; -1: none yet
  std::vector<int> packed;            ///< allocations of inputs
  std::vector<std::string> elsewhere; ///< functions that other ranks run
  std::vector<int> messageOffsets;
};

} // namespace titan::pipeline
