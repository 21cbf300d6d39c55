// The cache of executables: `titan` in $XDG_CACHE_HOME, else in ~/.cache, else /tmp/titan-UID.
//
//   KEY/            output of one source and toolchain; its builder holds a lock on it
//     NAME          an executable
//     NAME.cpp      its source
//     NAME.sum      its size and checksum, written last; its time is that of the last use
//     building-*/   a build directory; an interrupted build leaves it until the next one
//
// titanc runs executables from the cache, so the directory must belong to the user, and nobody else
// may write to it. An executable that does not match its record is ignored.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <system_error>

namespace titan::driver {

class Cache {
public:
  using Time = std::chrono::system_clock::time_point;

  /// The content of one key.
  struct Entry {
    std::string folder;
    std::string name; ///< of the executable; empty if the entry has none
    uint64_t bytes = 0;
    Time used;
  };

  /// The user's cache, created if necessary. Nothing after an error, which is reported.
  static std::optional<Cache> open(DiagnosticEngine &diags);
  /// The location that the environment selects.
  static std::string directory();

  const std::string &root() const { return folder; }
  /// All entries, most recently used first.
  std::vector<Entry> entries() const;
  /// Removes an entry. Returns false if it is being built.
  static bool remove(const Entry &entry);
  /// Removes entries unused for `days` days, then the least recently used ones until the others
  /// have at most `maxBytes`.
  void evict(Time now, int days = 30, uint64_t maxBytes = uint64_t{4} << 30) const;

private:
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  std::string folder;
};

/// The directory of one key, locked: no other process builds or removes it.
class CacheEntry {
public:
  /// Waits for the lock; calls `waits` before it waits.
  CacheEntry(const Cache &cache, llvm::StringRef key, llvm::function_ref<void()> waits);
  ~CacheEntry();
  CacheEntry(const CacheEntry &) = delete;
  CacheEntry &operator=(const CacheEntry &) = delete;

  /// Why the entry cannot be used.
  std::error_code error() const { return failure; }
  const std::string &path() const { return folder; }
  /// A new build directory, removed with this object.
  std::string makeBuildFolder();
  /// Moves the executable and the source `FILE` from the build directory into the entry.
  std::error_code publish(const std::string &name, const std::string &sourceSuffix);
  /// Moves the source alone, for a source that does not compile. Returns its path.
  std::string saveSource(const std::string &file);

private:
  std::string folder, building;
  int lock = -1;
  std::error_code failure;
};

/// The intact executable of this key and name; empty if there is none. Updates its time of last
/// use.
std::string findCached(const Cache &cache, llvm::StringRef key, const std::string &name);

} // namespace titan::driver
