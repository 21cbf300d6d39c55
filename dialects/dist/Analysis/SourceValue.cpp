// Source name and location of a value.

#include "dialects/dist/Analysis/SourceValue.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace titan::dist;

std::string SourceValue::print() const {
  if (file.empty())
    return name;
  std::string location = file + ":" + std::to_string(line);
  return name.empty() ? location : name + " " + location;
}

SourceValue titan::dist::getSourceValue(Location location) {
  SourceValue value;
  if (auto name = location->findInstanceOf<NameLoc>())
    value.name = name.getName().str();
  if (auto lineLoc = location->findInstanceOf<FileLineColLoc>()) {
    value.file = lineLoc.getFilename().str();
    value.line = lineLoc.getLine();
  }
  return value;
}
