// The cache of executables: `titan` in $XDG_CACHE_HOME, else in ~/.cache, else /tmp/titan-UID.
//
//   KEY/            what one source and toolchain make; who builds holds a lock on it
//     NAME          an executable
//     NAME.cpp      its source
//     NAME.sum      its size and checksum, written last; its time is that of the last use
//     building-*/   where it is compiled; left by a build that was killed, until the next one
//
// What is executed from here must be this user's own: the folder belongs to the user and nobody
// else may write to it. An executable that does not fit its record is as good as none.
#ifndef TITAN_COMPILER_DRIVER_CACHE_H
#define TITAN_COMPILER_DRIVER_CACHE_H

#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <system_error>

namespace titan::driver {

class Cache {
public:
  using Time = std::chrono::system_clock::time_point;

  /// What one key has.
  struct Entry {
    std::string folder, name; ///< the executable's; empty where there is none
    uint64_t bytes = 0;
    Time used;
  };

  /// The user's cache, made if it is not there. Nothing after an error, which is reported.
  static std::optional<Cache> open(DiagnosticEngine &diags);
  /// Where the environment says that it is.
  static std::string directory();

  const std::string &root() const { return folder; }
  /// All that is there, most recently used first.
  std::vector<Entry> entries() const;
  /// Removes an entry unless it is being built. False if it is.
  static bool remove(const Entry &entry);
  /// Removes what was not used for `days` days, and what was used longest ago until the rest fits
  /// into so many bytes.
  void evict(Time now, int days = 30, uint64_t most = uint64_t{4} << 30) const;

private:
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  std::string folder;
};

/// The folder of one key, locked until the end: nobody else builds or removes what is there.
class CacheEntry {
public:
  /// Waits for who holds the lock; `waits` is called before that.
  CacheEntry(const Cache &cache, llvm::StringRef key, llvm::function_ref<void()> waits);
  ~CacheEntry();
  CacheEntry(const CacheEntry &) = delete;
  CacheEntry &operator=(const CacheEntry &) = delete;

  /// Why it cannot be used.
  std::error_code error() const { return failure; }
  const std::string &path() const { return folder; }
  /// A new folder to build in, which goes with this object.
  std::string makeBuildFolder();
  /// Puts the executable and the source `FILE` of the build folder into the entry.
  std::error_code publish(const std::string &name, const std::string &sourceSuffix);
  /// Moves the source alone there, of what does not compile.
  std::string saveSource(const std::string &file);

private:
  std::string folder, building;
  int lock = -1;
  std::error_code failure;
};

/// The executable of this key and name, whole as it was made; empty if there is none. It counts as
/// used now.
std::string findCached(const Cache &cache, llvm::StringRef key, const std::string &name);

} // namespace titan::driver

#endif
