// An anonymous file in memory (memfd), which processes of one user pass to each other as a
// descriptor. They use a Unix socket of the abstract namespace, which other machines cannot reach.
// Both ends check the peer's user. The file's size is sealed, so no process can truncate it.
#pragma once

#include "Deadline.h"

#include <cstddef>
#include <string>

namespace titan::rt {

/// An owned file descriptor; -1: none.
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

/// A file of `bytes` zero bytes; empty if the system supports none.
Descriptor makeMemoryFile(size_t bytes);

/// Listens under this name with a queue for `processes` connections.
Descriptor listenLocally(const std::string &name, int processes);
/// Connects to the listener of this name, if it is a process of the same user.
Descriptor connectLocally(const std::string &name);

/// Sends the file to up to `processes` connections of the same user until the deadline.
void handOut(const Descriptor &listener, const Descriptor &file, int processes, Deadline deadline);
/// Receives a file, if it is sealed memory of `bytes` bytes; empty otherwise.
Descriptor receiveMemoryFile(const Descriptor &connection, size_t bytes, Deadline deadline);

} // namespace titan::rt
