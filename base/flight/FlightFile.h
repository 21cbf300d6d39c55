// The file of a flight recorder: what one rank did last.
//
// A rank maps the file into memory and writes as it runs, so that the file has the last entries
// even if the process is killed. A system crash may lose them. The file has a fixed size: a header,
// the groups of ranks in which the rank communicates, and a ring of entries. Counters of groups
// never wrap, so that calls are known whose entries are overwritten.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace titan::flight {

inline constexpr size_t kGroups = 256, kMembers = 16384, kEntries = 1024;

enum class Kind : uint8_t { Operation, Begin, End };

/// One event, in the file's form: little-endian, 128 bytes. Texts end with a zero.
struct EntryData {
  std::atomic<uint64_t> number; ///< from 1; 0 while the entry is written
  int64_t time;                 ///< nanoseconds since 1970
  int64_t step;
  Kind kind;
  uint8_t unused;
  int16_t group; ///< of Begin and End
  uint32_t reserved;
  uint64_t call; ///< the number of the call in its group, from 1
  std::array<char, 48> location;
  std::array<char, 40> action;
};
static_assert(sizeof(EntryData) == 128);

struct GroupData {
  uint32_t firstMember, size; ///< in `members`; 0 members: there was no room
  std::atomic<uint64_t> begun, ended;
};

/// The whole file.
struct FileData {
  std::array<char, 8> magic; ///< "titanflt"
  uint32_t version;          ///< 1
  int32_t rank, worldSize;
  uint32_t numGroups;
  std::atomic<uint64_t> next; ///< the number of the last entry
  std::atomic<uint32_t>
      failed; ///< 1: the rank reported an error; one that is killed or hangs does not
  std::array<GroupData, kGroups> groups;
  std::array<int32_t, kMembers> members;
  std::array<EntryData, kEntries> entries;
};

struct Entry {
  uint64_t number;
  int64_t time, step;
  Kind kind;
  int group; ///< index into Record::groups; -1: none
  uint64_t call;
  std::string location, action;
};

/// The calls of a rank in a group.
struct GroupCalls {
  std::vector<int> members;
  uint64_t begun, ended;
};

struct Record {
  int rank, worldSize;
  bool failed; ///< with an error; false: it ran, was killed, or hung
  std::vector<GroupCalls> groups;
  std::vector<Entry> entries; ///< oldest first
};

/// "OUT/flight/rank-3.bin".
std::string getFileName(const std::string &runDirectory, int rank);

/// Reads a file, which may be damaged. Throws UserError with the file's name.
Record readFile(const std::string &path);

/// Reads the files of all ranks in a run's directory, by rank. Throws UserError if there is none.
std::vector<Record> readRun(const std::string &runDirectory);

} // namespace titan::flight
