#include "compiler/driver/Output.h"
#include "base/files/DurableFile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::driver {

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

static std::error_code writeAndClose(int file, llvm::StringRef content) {
  std::error_code error = writeAll(file, content);
  if (::close(file) != 0 && !error)
    error = getLastError();
  return error;
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
  return writeAndClose(opened, content);
}

/// Writes and replaces by the writer of durable files. `isExact`: whatever the umask is.
static std::error_code writeDurably(const std::string &file, llvm::StringRef content,
                                    mode_t permissions, bool isExact) {
  try {
    PendingFile pending(file, PendingFile::Role::Create, permissions);
    pending.append({content.data(), content.size()});
    if (isExact)
      pending.setPermissions(permissions);
    pending.sync();
    pending.rename();
    syncParent(file);
  } catch (const WriteError<UserError> &error) {
    return error.reason;
  } catch (const WriteError<Fault> &error) {
    return error.reason;
  } catch (const std::exception &) { // the name of an open file, or another writer
    return std::make_error_code(std::errc::device_or_resource_busy);
  }
  return {};
}

std::error_code writeOutput(llvm::StringRef content, const std::string &output,
                            mode_t permissions) {
  struct stat status;
  bool exists = ::stat(output.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return std::make_error_code(std::errc::is_a_directory);
  if (exists && !S_ISREG(status.st_mode))
    return writeInPlace(output, content);
  return writeDurably(output, content, permissions, /*isExact=*/false);
}

std::error_code replaceFile(const std::string &file, llvm::StringRef content, mode_t permissions) {
  return writeDurably(file, content, permissions, /*isExact=*/true);
}

std::error_code copyOutput(const std::string &from, const std::string &to) {
  auto content = llvm::MemoryBuffer::getFile(from, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  return content ? writeOutput((*content)->getBuffer(), to) : content.getError();
}

} // namespace titan::driver
