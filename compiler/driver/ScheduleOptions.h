// The options of `titanc schedule`.
#pragma once

#include "base/schedule/Generators.h"
#include "base/schedule/Passes.h"
#include "base/schedule/Replay.h"

namespace titan::driver {

struct ScheduleOptions {
  std::string what; ///< an algorithm, `all`, a table or a program
  /// For algorithms; 0 is not given.
  schedule::Sizes sizes{.ranks = 0, .stagesPerRank = 0, .microbatches = 0};
  schedule::StageCosts costs; ///< of a rank and a microbatch
  double transfer = 0, overlap = 1;
  /// Of one stage and microbatch, and of a rank, in bytes; 0 is not given.
  int64_t stashBytes = 0, memoryLimit = 0;
  bool addTransfers = false, addReductions = false;
  std::optional<schedule::Residency> unshards;
  bool printsGrid = false, printsTable = false;
  std::string svg; ///< a file to write; empty: none

  bool isFile() const { return what.find('.') != std::string::npos; }
  bool isProgram() const { return what.ends_with(".titan"); }
};

} // namespace titan::driver
