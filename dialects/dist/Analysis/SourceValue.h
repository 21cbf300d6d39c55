//===- SourceValue.h - What a value is called, and where --------*- C++ -*-===//
//
// Reports speak of values by the names and lines that the user wrote.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_SOURCEVALUE_H
#define TITAN_DIALECTS_DIST_ANALYSIS_SOURCEVALUE_H

#include "mlir/IR/Location.h"
#include <string>

namespace titan::dist {

struct SourceValue {
  std::string name; ///< in the source, empty where there is none
  std::string file; ///< source file, empty where unknown
  unsigned line = 0;

  /// `wq net.titan:21`, or what is known of it.
  std::string print() const;
};

SourceValue getSourceValue(mlir::Location location);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_SOURCEVALUE_H
