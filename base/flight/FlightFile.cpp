#include "base/flight/FlightFile.h"
#include "base/Error.h"
#include "base/files/MappedFile.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace titan::flight {

namespace fs = std::filesystem;

std::string getFileName(const std::string &runDirectory, int rank) {
  return (fs::path(runDirectory) / "flight" / fmt::format("rank-{}.bin", rank)).string();
}

/// The text of a field, without characters that a terminal would interpret.
template <size_t Size> static std::string readText(const std::array<char, Size> &field) {
  const std::string_view bytes(field.data(), Size);
  std::string text(bytes.substr(0, bytes.find('\0')));
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

static std::vector<GroupCalls> readGroups(const FileData &file) {
  std::vector<GroupCalls> groups;
  for (size_t i = 0; i < std::min<size_t>(file.numGroups, kGroups); ++i) {
    const GroupData &group = file.groups[i];
    const size_t first = std::min<size_t>(group.firstMember, kMembers);
    const size_t size = std::min<size_t>(group.size, kMembers - first);
    const int32_t *members = file.members.data() + first;
    groups.push_back({{members, members + size}, group.begun, group.ended});
  }
  return groups;
}

static std::vector<Entry> readEntries(const FileData &file, size_t numGroups) {
  std::vector<Entry> entries;
  for (const EntryData &entry : file.entries)
    if (const uint64_t number = entry.number) {
      const bool hasGroup = entry.kind != Kind::Operation && entry.group >= 0 &&
                            static_cast<size_t>(entry.group) < numGroups;
      entries.push_back({number, entry.time, entry.step, entry.kind, hasGroup ? entry.group : -1,
                         entry.call, readText(entry.location), readText(entry.action)});
    }
  std::ranges::sort(entries, {}, &Entry::number);
  return entries;
}

Record readFile(const std::string &path) {
  const MappedFile mapped(path);
  const auto *file = reinterpret_cast<const FileData *>(mapped.bytes().data());
  if (mapped.bytes().size() != sizeof(FileData) ||
      std::string_view(file->magic.data(), file->magic.size()) != "titanflt" || file->version != 1)
    throw UserError(fmt::format("'{}' is no flight record of this version", path));
  Record record{file->rank, file->worldSize, file->failed == 1, readGroups(*file), {}};
  record.entries = readEntries(*file, record.groups.size());
  return record;
}

std::vector<Record> readRun(const std::string &runDirectory) {
  std::vector<Record> records;
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(fs::path(runDirectory) / "flight", error))
    if (entry.path().extension() == ".bin")
      records.push_back(readFile(entry.path().string()));
  if (records.empty())
    throw UserError(
        fmt::format("'{}' has no flight records (flight/rank-0.bin, ...): a run leaves them "
                    "if it does not finish",
                    runDirectory));
  std::ranges::sort(records, {}, &Record::rank);
  return records;
}

} // namespace titan::flight
