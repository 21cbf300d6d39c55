// Names of files.
#ifndef TITAN_COMPILER_DRIVER_PATHS_H
#define TITAN_COMPILER_DRIVER_PATHS_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

#include <string>
#include <system_error>

namespace titan::driver {

/// The name of what lies in a directory.
inline std::string join(llvm::StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<256> file(directory);
  llvm::sys::path::append(file, name);
  return file.str().str();
}

/// A new file in the folder of `path`, called as that and `ending` with a random number between,
/// and opened for writing with permissions `mode` less the umask. (LLVM's createUniqueFile replaces
/// every `%` of the path, too.)
std::error_code createSibling(llvm::StringRef path, llvm::StringRef ending, int &file,
                              llvm::SmallVectorImpl<char> &name, unsigned mode = 0666);

} // namespace titan::driver

#endif
