// The options of `titanc schedule`, which shows a pipeline schedule and its replay in time.
#pragma once

#include "base/schedule/Generators.h"
#include "base/schedule/Passes.h"
#include "base/schedule/Replay.h"

namespace titan::driver {

struct ScheduleOptions {
  /// What to show: the name of an algorithm, `all` algorithms, or a file: a table of actions or a
  /// program.
  std::string source;
  /// The sizes for algorithms; 0: not given.
  schedule::Sizes sizes{.ranks = 0, .stagesPerRank = 0, .microbatches = 0};
  /// The time of all stages of a rank for one microbatch, in any unit.
  schedule::StageCosts costs;
  double transfer = 0; ///< the time of a value from rank to rank, in the unit of `costs`
  double overlap = 1;  ///< the time of two overlapping actions, relative to the sum of their times
  int64_t stashBytes = 0;  ///< of one stage and microbatch; 0: not given
  int64_t memoryLimit = 0; ///< of a rank, in bytes; 0: not given
  bool addTransfers = false, addReductions = false;
  std::optional<schedule::Residency> unshards; ///< adds all-gathers of parameters
  bool printsGrid = false, printsTable = false;
  std::string svg; ///< a file to write; empty: none

  bool isFile() const { return source.find('.') != std::string::npos; }
  bool isProgram() const { return source.ends_with(".titan"); }
};

} // namespace titan::driver
