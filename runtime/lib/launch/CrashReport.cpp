#include "CrashReport.h"

#include "base/files/DurableFile.h"
#include "base/files/MappedFile.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace titan::rt {

namespace {

const Context *context = nullptr;
char rankText[16];
const char *errorFile = nullptr;
char errorTemporary[4096];
std::atomic<ExitHook> exitHook = nullptr;

const char *getName(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "SIGSEGV (invalid memory)";
  case SIGBUS:
    return "SIGBUS (a mapped file was truncated, or memory failed)";
  case SIGFPE:
    return "SIGFPE (integer division by zero)";
  case SIGILL:
    return "SIGILL (an instruction that this processor lacks)";
  default:
    return "SIGABRT (aborted)";
  }
}

/// Reports to the console, to torchrun's file and to the exit hook.
void reportEnd(int exitStatus, const SafeText &message) {
  SafeText console;
  console << "error: " << message << "\n";
  console.writeTo(STDERR_FILENO);
  if (errorFile) {
    SafeText json;
    json << "{\"message\": {\"message\": \"";
    json.json(message.text());
    json << "\", \"extraInfo\": {\"timestamp\": \"" << int64_t{std::time(nullptr)} << "\"}}}";
    replaceFileInHandler(errorFile, errorTemporary, {json.text(), json.size()},
                         /*isDurable=*/false);
  }
  if (ExitHook hook = exitHook)
    hook(exitStatus, message);
}

void addRank(SafeText &text) {
  if (*rankText)
    text << "rank " << rankText << ": ";
}

extern "C" void report(int signal, siginfo_t *info, void *) {
  SafeText message;
  addRank(message);
  const char *path = signal == SIGBUS ? mappedFileAt(info->si_addr) : nullptr;
  if (path)
    message << "SIGBUS ('" << path << "' was truncated while it was read, or cannot be read)";
  else
    message << getName(signal);
  addLocation(message);
  reportEnd(128 + signal, message);
  raise(signal); // the default handler takes it when this one returns
}

} // namespace

void addLocation(SafeText &text) {
  if (context && context->location && *context->location)
    text << " at or after (" << context->location << ")";
}

void exitFromHandler(int exitStatus, const SafeText &message) {
  SafeText whole;
  addRank(whole);
  whole << message;
  reportEnd(exitStatus, whole);
  _exit(exitStatus);
}

void setExitHook(ExitHook hook) {
  exitHook = hook;
}

void reportCrashes(int rank, const Context &running) {
  context = &running;
  errorFile = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (errorFile)
    std::snprintf(errorTemporary, sizeof(errorTemporary), "%s.crashed", errorFile);
  std::strncpy(rankText, std::to_string(rank).c_str(), sizeof(rankText) - 1);
  // A separate stack, to report stack overflows too.
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = report;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

} // namespace titan::rt
