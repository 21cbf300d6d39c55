#include "FlightRecorder.h"

#include "base/files/DurableFile.h"
#include "comm/Comm.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

using flight::FileData;

/// Maps a new file of zeros.
static FileData *mapNewFile(const std::string &path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const int descriptor = createNewFile(path);
  if (descriptor < 0)
    failToWrite(path, errno);
  void *mapped = MAP_FAILED;
  // Allocates the blocks: a full disk would otherwise end the process at a later write.
  int error = ::posix_fallocate(descriptor, 0, sizeof(FileData));
  if (!error) {
    mapped = ::mmap(nullptr, sizeof(FileData), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    error = mapped == MAP_FAILED ? errno : 0;
  }
  ::close(descriptor);
  if (error) {
    std::filesystem::remove(path, ignored);
    failToWrite(path, error);
  }
  return static_cast<FileData *>(mapped);
}

FlightRecorder::FlightRecorder(const std::string &runDirectory, int rank, int worldSize)
    : path(flight::getFileName(runDirectory, rank)) {
  createDirectories(std::filesystem::path(path).parent_path());
  file = mapNewFile(path);
  file->version = 1;
  file->rank = rank;
  file->worldSize = worldSize;
  std::memcpy(file->magic.data(), "titanflt", file->magic.size());
}

FlightRecorder::~FlightRecorder() {
  ::munmap(file, sizeof(FileData));
}

void FlightRecorder::discard() {
  std::error_code ignored; // the record is worthless
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(std::filesystem::path(path).parent_path(), ignored); // if it is empty
}

/// Copies the end of a text: a path's last components tell more than its first.
template <size_t Size> static void copyEnd(const char *text, std::array<char, Size> &field) {
  const size_t length = std::strlen(text), size = std::min(length, Size - 1);
  std::memcpy(field.data(), text + length - size, size);
  field[size] = '\0';
}

template <size_t Size> static void copyBegin(const char *text, std::array<char, Size> &field) {
  const size_t size = std::min(std::strlen(text), Size - 1);
  std::memcpy(field.data(), text, size);
  field[size] = '\0';
}

void FlightRecorder::add(flight::Kind kind, int group, uint64_t call, const char *location,
                         const char *action) {
  const uint64_t number = file->next.fetch_add(1, std::memory_order_relaxed) + 1;
  flight::EntryData &entry = file->entries[number % flight::kEntries];
  entry.number.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst); // readers see files of stopped processes
  entry.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count();
  entry.step = step.load(std::memory_order_relaxed);
  entry.kind = kind;
  entry.group = static_cast<int16_t>(group);
  entry.call = call;
  copyEnd(location, entry.location);
  copyBegin(action, entry.action);
  entry.number.store(number, std::memory_order_release);
}

void FlightRecorder::recordOperation(const char *location, const char *action) {
  add(flight::Kind::Operation, -1, 0, location, action);
}

int FlightRecorder::findOrAddGroup(const Group &group) {
  std::lock_guard lock(mutex);
  auto [entry, isNew] = groups.try_emplace(&group, -1);
  if (!isNew || file->numGroups == flight::kGroups)
    return entry->second;
  const uint32_t index = file->numGroups;
  flight::GroupData &data = file->groups[index];
  const flight::GroupData *last = index ? &file->groups[index - 1] : nullptr;
  data.firstMember = last ? last->firstMember + last->size : 0;
  const std::vector<int> &ranks = group.ranks();
  if (data.firstMember + ranks.size() <= flight::kMembers) {
    data.size = static_cast<uint32_t>(ranks.size());
    std::copy(ranks.begin(), ranks.end(), file->members.begin() + data.firstMember);
  }
  file->numGroups = index + 1;
  return entry->second = static_cast<int>(index);
}

int FlightRecorder::begin(const Group &group, const Site &site) {
  const int index = findOrAddGroup(group);
  const uint64_t call = index < 0 ? 0 : ++file->groups[index].begun;
  add(flight::Kind::Begin, index, call, site.source, site.action);
  return index;
}

void FlightRecorder::end(int group, const Site &site) {
  const uint64_t call = group < 0 ? 0 : ++file->groups[group].ended;
  add(flight::Kind::End, group, call, site.source, site.action);
}

RecordedCall::RecordedCall(FlightRecorder *recorder, const Group &group, const Site &site)
    : recorder(recorder), site(site), exceptions(std::uncaught_exceptions()) {
  if (recorder)
    this->group = recorder->begin(group, site);
}

RecordedCall::~RecordedCall() {
  if (recorder && std::uncaught_exceptions() == exceptions)
    recorder->end(group, site);
}

} // namespace titan::rt
