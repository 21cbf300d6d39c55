#include "CrashReport.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace titan::rt {

namespace {

const Context *context = nullptr;
char rankText[16];
const char *errorFile = nullptr;

/// A line of text put together without memory of its own: a handler may not ask for any.
class Line {
public:
  Line &operator<<(int64_t number) {
    char digits[20];
    size_t count = 0;
    do
      digits[count++] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    while (count > 0 && length < sizeof(bytes))
      bytes[length++] = digits[--count];
    return *this;
  }
  Line &operator<<(const char *text) {
    for (; *text && length < sizeof(bytes); ++text)
      bytes[length++] = *text;
    return *this;
  }
  void writeTo(int file) const {
    ssize_t ignored = ::write(file, bytes, length);
    static_cast<void>(ignored);
  }

private:
  char bytes[1024];
  size_t length = 0;
};

const char *nameOf(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "SIGSEGV (invalid memory)";
  case SIGBUS:
    return "SIGBUS (a mapped file became shorter, or memory failed)";
  case SIGFPE:
    return "SIGFPE (integer division by zero)";
  case SIGILL:
    return "SIGILL (an instruction that this processor lacks)";
  default:
    return "SIGABRT (aborted)";
  }
}

void describe(Line &line, int signal) {
  line << "rank " << rankText << ": " << nameOf(signal);
  if (context->place && *context->place)
    line << " at or after (" << context->place << ")";
}

extern "C" void report(int signal) {
  Line console;
  console << "error: ";
  describe(console, signal);
  console << "\n";
  console.writeTo(STDERR_FILENO);
  int file = errorFile ? ::open(errorFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
  if (file >= 0) {
    Line json;
    json << "{\"message\": {\"message\": \"";
    describe(json, signal); // names of files with quotes in them are nobody's habit
    json << "\", \"extraInfo\": {\"timestamp\": \"" << int64_t{std::time(nullptr)} << "\"}}}";
    json.writeTo(file);
    ::close(file);
  }
  raise(signal); // its handler is the system's again, once this one has returned
}

} // namespace

void reportCrashes(int rank, const Context &running) {
  context = &running;
  errorFile = std::getenv("TORCHELASTIC_ERROR_FILE");
  std::strncpy(rankText, std::to_string(rank).c_str(), sizeof(rankText) - 1);
  // A stack of its own, so that an overflow of the stack is reported too.
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = report;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

} // namespace titan::rt
