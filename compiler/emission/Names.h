//===- Names.h - Identifiers from source names ------------------*- C++ -*-===//
//
// Source names become C++ identifiers: what C++ does not allow is replaced, and names that are
// taken get a number.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_NAMES_H
#define TITAN_COMPILER_EMISSION_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace titan::emission {

/// `name` with what is not a letter, digit or underscore replaced by an underscore; a keyword of
/// C++ gets one behind it.
std::string makeIdentifier(llvm::StringRef name);

/// `text` as a C++ string literal with its quotes.
std::string quote(llvm::StringRef text);

/// The names of one scope.
class NameScope {
public:
  NameScope();
  void reserve(llvm::StringRef name) { taken.insert(name); }
  /// An identifier like `name` that nothing else in the scope has.
  std::string pick(llvm::StringRef name);

private:
  llvm::StringSet<> taken;
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_NAMES_H
