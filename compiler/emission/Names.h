//===- Names.h - Text of others in emitted C++ ------------------*- C++ -*-===//
//
// Whatever a user can choose (names, file names, settings) enters emitted source here: as an
// identifier, as a string literal or in a comment.
//
// Identifiers of users have a namespace of their own: they end with an underscore, and nothing else
// does, neither what the emitter itself declares nor a keyword, a macro or a function of a header.
// So `at` is the runtime's and `at_` the user's, and no list of reserved names is needed.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_NAMES_H
#define TITAN_COMPILER_EMISSION_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace titan::emission {

/// `name` as an identifier: letters and digits of ASCII with single underscores between them, a
/// letter first and an underscore last. (Identifiers with two adjacent underscores, or one in
/// front, are reserved for implementations of C++.)
std::string makeIdentifier(llvm::StringRef name);

/// `text` as a C++ string literal with its quotes. All but printable ASCII is escaped by number, so
/// that no line end, no encoding and no trigraph can end or change it.
std::string quote(llvm::StringRef text);

/// `// text` on one line: what is not printable ASCII, and backslashes, which could join the next
/// line to it, become question marks.
std::string comment(llvm::StringRef text);

/// The names of one scope.
class NameScope {
public:
  void reserve(llvm::StringRef name) { taken.insert(name); }
  /// An identifier like `name` that nothing else in the scope has: `x_`, `x_1_`, ...
  std::string pick(llvm::StringRef name);

private:
  llvm::StringSet<> taken;
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_NAMES_H
