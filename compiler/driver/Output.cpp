#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::error_code getLastError() {
  return {errno, std::generic_category()};
}

Diagnostic &reportWriteError(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why) {
  return diags.report(Code::CannotWriteFile, {},
                      "cannot write `" + file.str() + "`: " + why.message());
}

static std::error_code writeAll(int file, llvm::StringRef content) {
  while (!content.empty()) {
    ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno != EINTR)
      return getLastError();
    content = content.drop_front(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return {};
}

/// Writes, syncs if possible, and closes.
static std::error_code writeAndClose(int file, llvm::StringRef content, bool isFile) {
  std::error_code error = writeAll(file, content);
  if (!error && isFile && ::fsync(file) != 0)
    error = getLastError();
  if (::close(file) != 0 && !error)
    error = getLastError();
  return error;
}

std::error_code writeNewFile(const std::string &file, llvm::StringRef content, unsigned mode) {
  int opened =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode));
  return opened < 0 ? getLastError() : writeAndClose(opened, content, /*isFile=*/true);
}

std::error_code sync(const std::string &path) {
  int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0)
    return getLastError();
  std::error_code error = ::fsync(opened) == 0 ? std::error_code() : getLastError();
  ::close(opened);
  return error;
}

/// Writes to a device or a pipe with a reader; opening a pipe without one would block.
static std::error_code writeInPlace(const std::string &output, llvm::StringRef content) {
  int opened = ::open(output.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0)
    return getLastError();
  ::fcntl(opened, F_SETFL, ::fcntl(opened, F_GETFL) & ~O_NONBLOCK);
  return writeAndClose(opened, content, /*isFile=*/false);
}

std::error_code writeOutput(llvm::StringRef content, const std::string &output, bool isExecutable) {
  struct stat status;
  bool exists = ::stat(output.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return std::make_error_code(std::errc::is_a_directory);
  if (exists && !S_ISREG(status.st_mode))
    return writeInPlace(output, content);
  int file = -1;
  llvm::SmallString<128> partial;
  unsigned mode = fs::all_read | fs::all_write | (isExecutable ? fs::all_exe : fs::no_perms);
  if (std::error_code error = createSibling(output, ".partial", file, partial, mode))
    return error;
  auto remove = llvm::make_scope_exit([&] { fs::remove(partial); });
  if (std::error_code error = writeAndClose(file, content, /*isFile=*/true))
    return error;
  if (std::error_code error = fs::rename(partial, output))
    return error;
  remove.release();
  return {};
}

} // namespace titan::driver
