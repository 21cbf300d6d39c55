#include "MemoryFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace titan::rt {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

struct Address {
  sockaddr_un address = {};
  socklen_t length;

  /// In the abstract namespace: the name begins with a zero byte and needs no file.
  explicit Address(const std::string &name) {
    address.sun_family = AF_UNIX;
    size_t bytes = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), bytes);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

Descriptor makeSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool isOfThisUser(const Descriptor &connection) {
  ucred peer = {};
  socklen_t length = sizeof(peer);
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == ::geteuid();
}

bool waitUntilReadable(const Descriptor &file, Deadline deadline) {
  pollfd poll{file.get(), POLLIN, 0};
  return ::poll(&poll, 1, static_cast<int>(deadline.left().count())) == 1;
}

/// A message of one byte that carries a descriptor or has space for one.
struct DescriptorMessage {
  char byte = 0;
  iovec text{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};

  DescriptorMessage() {
    header.msg_iov = &text;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
};

void send(const Descriptor &connection, const Descriptor &file) {
  DescriptorMessage message;
  cmsghdr *control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  int sent = file.get();
  std::memcpy(CMSG_DATA(control), &sent, sizeof(int));
  ::sendmsg(connection.get(), &message.header, MSG_NOSIGNAL); // errors of a closed peer are ignored
}

Descriptor receive(const Descriptor &connection) {
  DescriptorMessage message;
  if (::recvmsg(connection.get(), &message.header, MSG_CMSG_CLOEXEC) != 1)
    return Descriptor();
  cmsghdr *control = CMSG_FIRSTHDR(&message.header);
  if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
      control->cmsg_len != CMSG_LEN(sizeof(int)))
    return Descriptor();
  int received = -1;
  std::memcpy(&received, CMSG_DATA(control), sizeof(int));
  return Descriptor(received);
}

} // namespace

Descriptor::~Descriptor() {
  if (file >= 0)
    ::close(file);
}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  Descriptor old(std::exchange(file, other.release()));
  return *this;
}

int Descriptor::release() {
  return std::exchange(file, -1);
}

Descriptor makeMemoryFile(size_t bytes) {
  Descriptor file(::memfd_create("titan-group", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
      ::fcntl(file.get(), F_ADD_SEALS, kSeals) == 0)
    return file;
  return Descriptor();
}

Descriptor listenLocally(const std::string &name, int processes) {
  Address address(name);
  Descriptor listener = makeSocket();
  // Twice the number of peers, so that unrelated connections do not fill the queue at once.
  if (listener && ::bind(listener.get(), address.get(), address.length) == 0 &&
      ::listen(listener.get(), 2 * processes) == 0)
    return listener;
  return Descriptor();
}

Descriptor connectLocally(const std::string &name) {
  Address address(name);
  Descriptor connection = makeSocket();
  if (connection && ::connect(connection.get(), address.get(), address.length) == 0 &&
      isOfThisUser(connection))
    return connection;
  return Descriptor();
}

void handOut(const Descriptor &listener, const Descriptor &file, int processes, Deadline deadline) {
  for (int given = 0; given < processes && waitUntilReadable(listener, deadline);) {
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection || !isOfThisUser(connection))
      continue;
    send(connection, file);
    ++given;
  }
}

Descriptor receiveMemoryFile(const Descriptor &connection, size_t bytes, Deadline deadline) {
  if (!waitUntilReadable(connection, deadline))
    return Descriptor();
  Descriptor file = receive(connection);
  struct stat status = {};
  const bool isExpected = file && ::fstat(file.get(), &status) == 0 &&
                          status.st_size == static_cast<off_t>(bytes) &&
                          ::fcntl(file.get(), F_GET_SEALS) == kSeals;
  return isExpected ? std::move(file) : Descriptor();
}

} // namespace titan::rt
