#include "compiler/driver/Cache.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral kRecordSuffix = ".sum";
static constexpr llvm::StringLiteral kBuildFolderPrefix = "building-";

static std::error_code getLastError() {
  return {errno, std::generic_category()};
}

/// The content of the record of a file.
static std::string makeRecord(llvm::StringRef content) {
  return "titan executable\nbytes " + std::to_string(content.size()) + "\nxxh3 " +
         llvm::utohexstr(llvm::xxh3_64bits(content), /*LowerCase=*/true) + "\n";
}

/// The content of a regular file; null for other files. Does not block.
static std::unique_ptr<llvm::MemoryBuffer> readRegular(const std::string &file) {
  struct stat status;
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return nullptr;
  auto buffer =
      llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                  /*IsVolatile=*/true);
  return buffer ? std::move(*buffer) : nullptr;
}

std::string findCached(const Cache &cache, llvm::StringRef key, const std::string &name) {
  std::string executable = driver::join(driver::join(cache.root(), key), name);
  auto record = readRegular(executable + kRecordSuffix.str());
  auto content = record ? readRegular(executable) : nullptr;
  if (!content || record->getBuffer() != makeRecord(content->getBuffer()) ||
      !fs::can_execute(executable))
    return "";
  ::utimensat(AT_FDCWD, (executable + kRecordSuffix.str()).c_str(), nullptr, 0);
  return executable;
}

/// Opens a directory and locks it; if `waits` is given, calls it and waits for the lock. Returns -1
/// and sets `error` if the directory cannot be opened, or is locked and `waits` is null. On file
/// systems without locks, such as some network file systems, the directory is used without a lock.
static int lockFolder(const std::string &folder, llvm::function_ref<void()> *waits,
                      std::error_code &error) {
  int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) {
    error = getLastError();
    return -1;
  }
  if (::flock(opened, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return opened;
  if (waits) {
    (*waits)();
    while (::flock(opened, LOCK_EX) != 0 && errno == EINTR)
      ;
    return opened;
  }
  error = getLastError();
  ::close(opened);
  return -1;
}

/// Whether the open directory still has this name; it may have been evicted.
static bool hasName(int opened, const std::string &folder) {
  struct stat here, named;
  return ::fstat(opened, &here) == 0 && ::lstat(folder.c_str(), &named) == 0 &&
         here.st_ino == named.st_ino && here.st_dev == named.st_dev;
}

CacheEntry::CacheEntry(const Cache &cache, llvm::StringRef key, llvm::function_ref<void()> waits)
    : folder(driver::join(cache.root(), key)) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if ((failure = fs::create_directory(folder, /*IgnoreExisting=*/true, fs::owner_all)))
      return;
    lock = lockFolder(folder, &waits, failure);
    if (lock >= 0 && hasName(lock, folder)) {
      failure = {};
      return;
    }
    if (lock >= 0)
      ::close(std::exchange(lock, -1));
    else if (failure != std::errc::no_such_file_or_directory)
      return;
  }
}

CacheEntry::~CacheEntry() {
  if (!building.empty())
    fs::remove_directories(building);
  if (lock >= 0)
    ::close(lock);
}

std::string CacheEntry::makeBuildFolder() {
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error))
    if (path::filename(file->path()).starts_with(kBuildFolderPrefix)) // of a build that was killed
      fs::remove_directories(file->path());
  std::string made = driver::join(folder, kBuildFolderPrefix + "XXXXXX");
  if (!::mkdtemp(made.data())) {
    failure = getLastError();
    return "";
  }
  return building = made;
}

std::error_code CacheEntry::publish(const std::string &name, const std::string &sourceSuffix) {
  const std::string built = driver::join(building, name), executable = driver::join(folder, name);
  auto content = readRegular(built);
  if (!content)
    return std::make_error_code(std::errc::no_such_file_or_directory);
  if (std::error_code error = sync(built))
    return error;
  if (std::error_code error =
          writeOutput(makeRecord(content->getBuffer()), built + kRecordSuffix.str(), 0600))
    return error;
  fs::remove(executable + kRecordSuffix); // an old record must never describe the new file
  for (const std::string &suffix : {sourceSuffix, std::string(), kRecordSuffix.str()})
    if (std::error_code error = fs::rename(built + suffix, executable + suffix))
      return error;
  return sync(folder);
}

std::string CacheEntry::saveSource(const std::string &file) {
  std::string saved = driver::join(folder, path::filename(file));
  return fs::rename(file, saved) ? file : saved;
}

/// Reads the size and the times of the files of an entry.
static void measure(const std::string &folder, Cache::Entry &entry) {
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error, /*follow_symlinks=*/false), end;
       !error && file != end; file.increment(error)) {
    struct stat status;
    if (::lstat(file->path().c_str(), &status) != 0)
      continue;
    entry.bytes += static_cast<uint64_t>(status.st_size);
    entry.used = std::max(entry.used, Cache::Time(std::chrono::seconds(status.st_mtime)));
    llvm::StringRef name = path::filename(file->path());
    if (file.level() == 0 && name.consume_back(kRecordSuffix))
      entry.name = name.str();
  }
}

std::vector<Cache::Entry> Cache::entries() const {
  std::vector<Entry> all;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    struct stat status;
    llvm::StringRef key = path::filename(file->path());
    bool isOurs = key.size() == 16 && llvm::all_of(key, llvm::isHexDigit);
    if (!isOurs || ::lstat(file->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
      continue;
    Entry entry{file->path(), "", 0, Time(std::chrono::seconds(status.st_mtime))};
    measure(file->path(), entry);
    all.push_back(std::move(entry));
  }
  std::sort(all.begin(), all.end(), [](const Entry &a, const Entry &b) { return a.used > b.used; });
  return all;
}

bool Cache::remove(const Entry &entry) {
  std::error_code error;
  int lock = lockFolder(entry.folder, nullptr, error);
  if (lock < 0)
    return false;
  error = fs::remove_directories(entry.folder);
  ::close(lock);
  return !error;
}

void Cache::evict(Time now, int days, uint64_t maxBytes) const {
  uint64_t total = 0;
  for (const Entry &entry : entries()) {
    total += entry.bytes;
    if (total > maxBytes || now - entry.used > std::chrono::hours(24) * days)
      remove(entry);
  }
}

} // namespace titan::driver
