// Joins paths, and creates files with unique names.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

#include <string>
#include <system_error>

namespace titan::driver {

/// The path of a file in a directory.
inline std::string join(llvm::StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<256> file(directory);
  llvm::sys::path::append(file, name);
  return file.str().str();
}

/// Creates a file in the directory of `path`: its name, a random number and `ending`. Opens it for
/// writing with permissions `mode` less the umask. (LLVM's createUniqueFile also replaces every `%`
/// in the path.)
std::error_code createSibling(llvm::StringRef path, llvm::StringRef ending, int &file,
                              llvm::SmallVectorImpl<char> &name, unsigned mode = 0666);

} // namespace titan::driver
