// User text in emitted C++.
//
// Inserts text that users choose (names, file names, settings) into emitted source: as an
// identifier, a string literal or a comment.
//
// User identifiers end with an underscore. Nothing else does: no declaration of the emitter, no
// keyword, macro or function of a header. So `at` belongs to the runtime and `at_` to the user, and
// no list of reserved names is needed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace titan::emission {

/// `name` as an identifier: ASCII letters and digits with single underscores between them,
/// beginning with a letter and ending with an underscore. (C++ reserves identifiers with two
/// adjacent underscores or a leading one.)
std::string makeIdentifier(llvm::StringRef name);

/// `text` as a C++ string literal with quotes. All but printable ASCII is escaped by number, so no
/// line end, encoding or trigraph can end or change it.
std::string quote(llvm::StringRef text);

/// `// text` on one line. Question marks replace non-printable characters and backslashes, which
/// could join the next line.
std::string comment(llvm::StringRef text);

/// The names of one scope.
class NameScope {
public:
  void reserve(llvm::StringRef name) { taken.insert(name); }
  /// An identifier like `name` that is unique in the scope: `x_`, `x_1_`, ...
  std::string pick(llvm::StringRef name);

private:
  llvm::StringSet<> taken;
  llvm::StringMap<int> nextNumbers; ///< after identifiers that were asked for before
};

} // namespace titan::emission
