// Creates files with unique names.
#include "compiler/driver/Paths.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

namespace titan::driver {

std::error_code createSibling(llvm::StringRef path, llvm::StringRef ending, int &file,
                              llvm::SmallVectorImpl<char> &name, unsigned mode) {
  constexpr int tries = 128;
  std::error_code error = std::make_error_code(std::errc::file_exists);
  for (int i = 0; i < tries && error == std::errc::file_exists; ++i) {
    name.clear();
    const std::string number = llvm::utohexstr(llvm::sys::Process::GetRandomNumber());
    (path + "." + number + ending).toVector(name);
    error =
        llvm::sys::fs::openFileForWrite(llvm::StringRef(name.data(), name.size()), file,
                                        llvm::sys::fs::CD_CreateNew, llvm::sys::fs::OF_None, mode);
  }
  return error;
}

} // namespace titan::driver
