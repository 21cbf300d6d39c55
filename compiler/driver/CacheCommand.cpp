// `titanc cache`: lists and empties the cache.
#include "compiler/driver/Cache.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/TextTable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

static std::string describeSize(uint64_t bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

static std::string describeAge(Cache::Time used) {
  auto hours =
      std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now() - used)
          .count();
  return hours < 24 ? "today" : std::to_string(hours / 24) + " days ago";
}

static void printEntries(const Cache &cache) {
  TextTable table({TextTable::Side::Left, TextTable::Side::Right, TextTable::Side::Left,
                   TextTable::Side::Left});
  uint64_t total = 0;
  for (const Cache::Entry &entry : cache.entries()) {
    total += entry.bytes;
    table.add({entry.name.empty() ? "(unfinished)" : entry.name, describeSize(entry.bytes),
               "used " + describeAge(entry.used), llvm::sys::path::filename(entry.folder).str()});
  }
  llvm::outs() << cache.root() << ": " << describeSize(total) << '\n';
  table.print(llvm::outs());
}

int cacheCommand(const CommonOptions &options, const CacheOptions &cacheOptions) {
  CompilerInstance instance(options);
  std::optional<Cache> cache = Cache::open(instance.diags);
  if (!cache)
    return instance.finish(1);
  if (!cacheOptions.clean) {
    printEntries(*cache);
    return instance.finish();
  }
  uint64_t bytes = 0, count = 0;
  for (const Cache::Entry &entry : cache->entries())
    if (Cache::remove(entry)) {
      bytes += entry.bytes;
      ++count;
    }
  llvm::outs() << "removed " << count << (count == 1 ? " program, " : " programs, ")
               << describeSize(bytes) << ", from " << cache->root() << '\n';
  return instance.finish();
}

} // namespace titan::driver
