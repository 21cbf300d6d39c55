// The dimensions along which the data of a run are cut. A file names them (runs/DataDims.h); the
// compiler knows them by their roles alone.
#pragma once

#include <string>

namespace titan::sema {

/// One element for each sample, one for each position of a sample.
struct DataDims {
  std::string samples;
  std::string positions; ///< empty: samples have none

  /// "batch, seq", as a source lists them.
  std::string list() const { return samples + (positions.empty() ? "" : ", " + positions); }
};

} // namespace titan::sema
