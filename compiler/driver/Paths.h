// Joins paths.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

#include <string>

namespace titan::driver {

/// The path of a file in a directory.
inline std::string join(llvm::StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<256> file(directory);
  llvm::sys::path::append(file, name);
  return file.str().str();
}

} // namespace titan::driver
