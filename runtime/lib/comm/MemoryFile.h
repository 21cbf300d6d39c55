// An anonymous file of a machine's memory (memfd) and how processes of one user hand it to each
// other: as a descriptor, over a Unix socket of the abstract namespace, which no other machine
// reaches. Both ends check the other's user. Its size is sealed: nobody can cut it under the
// others.
#pragma once

#include "Deadline.h"

#include <cstddef>
#include <string>

namespace titan::rt {

/// A descriptor, closed at its end; -1: none.
class Descriptor {
public:
  explicit Descriptor(int file = -1) : file(file) {}
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept : file(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept;

  int get() const { return file; }
  explicit operator bool() const { return file >= 0; }
  int release();

private:
  int file;
};

/// Of so many zero bytes; none where the system has none.
Descriptor makeMemoryFile(size_t bytes);

/// Listens under this name, for so many processes at once.
Descriptor listenLocally(const std::string &name, int processes);
/// To who listens under this name, where that is a process of this user.
Descriptor connectLocally(const std::string &name);

/// Hands the file to as many connections of this user's processes as come before the time is over.
void handOut(const Descriptor &listener, const Descriptor &file, int processes, Deadline deadline);
/// The file that comes, if it is memory of so many bytes whose size is sealed; else none.
Descriptor receiveMemoryFile(const Descriptor &connection, size_t bytes, Deadline deadline);

} // namespace titan::rt
