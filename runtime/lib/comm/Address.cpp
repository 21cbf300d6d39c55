#include "Address.h"

#include "CallWithTimeout.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

using std::chrono::milliseconds;

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  std::string text() const {
    char host[NI_MAXHOST] = "";
    getnameinfo(reinterpret_cast<const sockaddr *>(&storage), length, host, sizeof(host), nullptr,
                0, NI_NUMERICHOST);
    return host;
  }
};

/// The addresses of a host name; with AI_NUMERICHOST in `flags`, of a numeric address only. If
/// there are none, `problem` says why.
std::vector<SocketAddress> lookUp(const std::string &host, int port, int flags,
                                  std::string &problem) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  std::vector<SocketAddress> addresses;
  if (error != 0) {
    problem = fmt::format("the name '{}' cannot be resolved: {}", host, gai_strerror(error));
    return addresses;
  }
  for (addrinfo *next = found; next; next = next->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, next->ai_addr, next->ai_addrlen);
    address.length = next->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

/// Whether the address accepts a connection within `limit`; if not, `problem` says why.
bool accepts(SocketAddress address, milliseconds limit, std::string &problem) {
  Descriptor probe(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = 0;
  if (!probe)
    error = errno;
  else if (::connect(probe.get(), address.get(), address.length) != 0)
    error = errno;
  if (error == EINPROGRESS) {
    pollfd poll{probe.get(), POLLOUT, 0};
    socklen_t size = sizeof(error);
    if (::poll(&poll, 1, static_cast<int>(limit.count())) != 1)
      error = ETIMEDOUT;
    else
      ::getsockopt(probe.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0)
    problem = fmt::format("{}: {}", address.text(), std::strerror(error));
  return error == 0;
}

/// The last error of a retrying thread, for the message after a timeout.
struct LastProblem {
  std::mutex mutex;
  std::string text = "the system does not answer";

  void set(std::string problem) {
    std::lock_guard lock(mutex);
    text = std::move(problem);
  }
  std::string get() {
    std::lock_guard lock(mutex);
    return text;
  }
};

using Attempt = std::function<std::string(std::string &problem)>;

/// Calls `attempt` until it returns an address or the deadline is over.
std::string retry(Deadline deadline, Attempt attempt) {
  auto last = std::make_shared<LastProblem>();
  auto loop = [last, deadline, attempt = std::move(attempt)] {
    for (milliseconds pause(50);; pause = std::min(2 * pause, milliseconds(1000))) {
      std::string problem, address = attempt(problem);
      if (!address.empty())
        return address;
      last->set(problem);
      if (deadline.left() <= pause)
        throw std::runtime_error(problem);
      std::this_thread::sleep_for(pause);
    }
  };
  try {
    return callWithTimeout(deadline.left(), loop);
  } catch (const TimedOut &) {
    throw std::runtime_error(last->get());
  }
}

void setOption(const Descriptor &socket, int level, int option, int value) {
  ::setsockopt(socket.get(), level, option, &value, sizeof(value));
}

Descriptor bindAndListen(SocketAddress address) {
  Descriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket)
    return socket;
  setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1); // old connections may linger on the port
  if (address.storage.ss_family == AF_INET6)
    setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket.get(), address.get(), address.length) == 0 &&
      ::listen(socket.get(), SOMAXCONN) == 0)
    return socket;
  return Descriptor();
}

} // namespace

bool isLoopback(const std::string &address) {
  in6_addr six;
  if (inet_pton(AF_INET6, address.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
  in_addr four;
  return inet_pton(AF_INET, address.c_str(), &four) == 1 && ntohl(four.s_addr) >> 24 == 127;
}

std::string resolve(const std::string &host, Deadline deadline) {
  return retry(deadline, [host](std::string &problem) {
    std::vector<SocketAddress> found = lookUp(host, 0, 0, problem);
    return found.empty() ? std::string() : found.front().text();
  });
}

std::string reach(const std::string &host, int port, Deadline deadline) {
  return retry(deadline, [host, port, deadline](std::string &problem) {
    for (const SocketAddress &address : lookUp(host, port, 0, problem))
      if (accepts(address, std::min(deadline.left(), milliseconds(5000)), problem))
        return address.text();
    return std::string();
  });
}

Descriptor listenAt(const std::string &address, int port) {
  std::string problem;
  int error = 0;
  for (const std::string &candidate : address.empty() ? std::vector<std::string>{"::", "0.0.0.0"}
                                                      : std::vector<std::string>{address})
    for (const SocketAddress &found : lookUp(candidate, port, AI_NUMERICHOST, problem)) {
      if (Descriptor socket = bindAndListen(found))
        return socket;
      error = errno;
      if (error == EADDRINUSE)
        break;
    }
  throw std::runtime_error(fmt::format(
      "cannot listen at {}:{}: {}{}", address.empty() ? "any address" : address, port,
      error ? std::strerror(error) : problem,
      error == EADDRINUSE
          ? " (EADDRINUSE): another program uses this port; set MASTER_PORT to a free port"
          : ""));
}

std::string localAddressToward(const std::string &address) {
  std::string problem;
  constexpr int kAnyPort = 9; // that of the discard service
  for (SocketAddress peer : lookUp(address, kAnyPort, AI_NUMERICHOST, problem)) {
    Descriptor socket(::socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    SocketAddress own;
    own.length = sizeof(own.storage);
    // Connecting a datagram socket sends nothing and only selects the route.
    if (socket && ::connect(socket.get(), peer.get(), peer.length) == 0 &&
        ::getsockname(socket.get(), own.get(), &own.length) == 0)
      return own.text();
  }
  return "";
}

} // namespace titan::rt
