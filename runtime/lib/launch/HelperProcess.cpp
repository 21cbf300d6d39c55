#include "HelperProcess.h"

#include "base/Error.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

extern char **environ;

namespace titan::rt {

namespace {

constexpr int kTimeoutSeconds = 120; // a large tokenizer takes seconds to load

/// Makes a pipe whose ends close when another program starts; `posix_spawn` duplicates the helper's
/// ends.
void makePipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Fault(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
}

/// The folders in which the dynamic loader looks for libraries of this program.
std::vector<std::string> libraryFolders() {
  std::vector<std::string> folders;
  Dl_serinfo size;
  void *program = dlopen(nullptr, RTLD_LAZY);
  if (!program || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0)
    return folders;
  std::vector<std::byte> memory(size.dls_size);
  auto *info = reinterpret_cast<Dl_serinfo *>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, info) == 0 &&
      dlinfo(program, RTLD_DI_SERINFO, info) == 0)
    for (unsigned i = 0; i < info->dls_cnt; ++i)
      folders.emplace_back(info->dls_serpath[i].dls_name);
  return folders;
}

} // namespace

HelperProcess::HelperProcess(std::vector<std::string> command) : name(command.at(0)) {
  std::signal(SIGPIPE, SIG_IGN); // a write to a helper that has ended fails instead
  int input[2], output[2];
  makePipe(input);
  makePipe(output);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  std::vector<char *> arguments;
  for (std::string &word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&process, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  to = input[1];
  from = output[0];
  if (error) {
    process = -1;
    close(to);
    close(from);
    throw UserError(fmt::format("cannot start {}: {}", name, std::strerror(error)));
  }
}

HelperProcess::~HelperProcess() {
  close(to);
  close(from);
  if (process <= 0)
    return;
  kill(process, SIGTERM); // it need not finish a request
  waitpid(process, nullptr, 0);
}

void HelperProcess::fail(const std::string &how) {
  throw Fault(fmt::format("{} {}", name, how));
}

std::string HelperProcess::ask(const std::string &line) {
  const std::string text = line + '\n';
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(to, text.data() + sent, text.size() - sent);
    if (count < 0 && errno != EINTR)
      fail(fmt::format("does not read: {}", std::strerror(errno)));
    sent += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return read();
}

std::string HelperProcess::read() {
  size_t end;
  while ((end = buffer.find('\n')) == std::string::npos) {
    pollfd waiting{from, POLLIN, 0};
    const int ready = poll(&waiting, 1, kTimeoutSeconds * 1000);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      fail(fmt::format("has not answered for {} seconds", kTimeoutSeconds));
    char chunk[4096];
    const ssize_t count = ::read(from, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      fail("has ended; see its messages above");
    buffer.append(chunk, static_cast<size_t>(count));
  }
  std::string line = buffer.substr(0, end);
  buffer.erase(0, end + 1);
  return line;
}

std::string findTool(const std::string &name, const char *variable) {
  if (const char *path = std::getenv(variable); path && *path)
    return path;
  std::vector<std::filesystem::path> candidates;
  for (const std::string &folder : libraryFolders())
    candidates.push_back(std::filesystem::path(folder) / ".." / "bin" / name);
  const char *path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    candidates.push_back(std::filesystem::path(folders.substr(begin, end - begin)) / name);
    begin = end + 1;
  }
  for (const std::filesystem::path &candidate : candidates)
    if (access(candidate.c_str(), X_OK) == 0)
      return candidate.lexically_normal();
  throw UserError(fmt::format("{} is neither next to the runtime's libraries nor in PATH; set the "
                              "environment variable {} to its path",
                              name, variable));
}

} // namespace titan::rt
