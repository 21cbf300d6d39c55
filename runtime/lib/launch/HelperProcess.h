// A child process that answers each line of its standard input with a line of its standard output.
// It ends when its input does, so also when this process ends.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace titan::rt {

class HelperProcess {
public:
  /// Starts `command`, a program and its arguments. The program inherits the standard error of this
  /// process. Throws UserError if there is no such program.
  explicit HelperProcess(std::vector<std::string> command);
  ~HelperProcess();
  HelperProcess(const HelperProcess &) = delete;
  HelperProcess &operator=(const HelperProcess &) = delete;

  /// Sends a line and waits for the answer. Throws Fault if the helper has ended or does not answer
  /// within the timeout.
  std::string ask(const std::string &line);
  /// Waits for a line that the helper writes without a question.
  std::string read();

private:
  [[noreturn]] void fail(const std::string &how);

  std::string name;
  pid_t process = -1;
  int to = -1, from = -1; // pipes of the helper's input and output
  std::string buffer;     // read, but not returned yet
};

/// The path of one of Titan's tools: the environment variable, else beside the runtime's libraries,
/// else in PATH. Throws UserError if it is nowhere.
std::string findTool(const std::string &name, const char *variable);

} // namespace titan::rt
