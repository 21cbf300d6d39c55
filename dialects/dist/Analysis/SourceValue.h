// Source name and location of a value.
//
// Reports identify values by their name and line in the user's source.
#pragma once

#include "mlir/IR/Location.h"
#include <string>

namespace titan::dist {

struct SourceValue {
  std::string name; ///< in the source, empty where there is none
  std::string file; ///< source file, empty where unknown
  unsigned line = 0;

  /// `wq net.titan:21`, or the known half of it.
  std::string print() const;
};

SourceValue getSourceValue(mlir::Location location);

} // namespace titan::dist
