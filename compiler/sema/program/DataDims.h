// The dimensions of samples and of positions in the data of a run. A file names them
// (runs/DataDims.h); the compiler knows only their roles.
#pragma once

#include <string>

namespace titan::sema {

/// The names of two dimensions, with one element for each sample and for each position of a sample.
struct DataDims {
  std::string samples;
  std::string positions; ///< empty: samples have none

  /// "batch, seq", as a source lists them.
  std::string list() const { return samples + (positions.empty() ? "" : ", " + positions); }
};

} // namespace titan::sema
