#include "PrepareData.h"

#include "launch/HelperProcess.h"
#include "loop/Trainer.h"
#include "manifest/Manifest.h"
#include "settings/SettingText.h"
#include "state/WeightFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/data/DataPaths.h"
#include "base/data/TokenIndex.h"
#include "files/Checksum.h"
#include "files/PrivateFolder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

/// Whether a path in a setting for indexed data names texts instead.
bool namesTexts(const std::string &path) {
  return fs::exists(path) && tokenFilePrefix(path) == path && !fs::exists(path + ".idx");
}

/// The folder of prepared tokens, by XDG_CACHE_HOME and HOME.
fs::path cacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && fs::path(cache).is_absolute())
    return fs::path(cache) / "titan-data";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "titan-data";
  return fs::temp_directory_path() / fmt::format("titan-data-{}", ::getuid());
}

std::string absolute(const std::string &path) {
  return fs::absolute(path).lexically_normal().string();
}

/// The tokenizer of the command line, else that beside the weights.
std::string findTokenizer(const Options &options, const std::string &texts) {
  if (!options.tokenizer.empty())
    return options.tokenizer == "bytes" ? "bytes" : absolute(options.tokenizer);
  if (const std::string own = findTokenizerSource(options.initFrom); !own.empty())
    return absolute(own);
  requireSources(options.initFrom);
  throw UserError(fmt::format("'{}' is text, and the run has no tokenizer: pass --tokenizer DIR or "
                              "FILE, or `--tokenizer bytes`{}; --set "
                              "data.format=text (for eval, eval.data.format) reads bytes as tokens",
                              texts, options.initFrom.empty() ? "" : " (--init-from has none)"));
}

/// Equal for equal paths of texts, tokenizers of equal content, and vocabularies.
std::string cachePrefix(const std::string &texts, const std::string &tokenizer,
                        int64_t vocabulary) {
  const std::string key =
      fmt::format("{}\n{}\n{}", texts,
                  tokenizer == "bytes" ? tokenizer : digestTokenizer(tokenizer), vocabulary);
  return (cacheFolder() / fmt::format("{}-{:08x}", fs::path(texts).stem().string(), crc32c(key)))
      .string();
}

/// In the new process: replaces it by the command. The process ends when its parent does.
[[noreturn]] void executeCommand(const std::vector<std::string> &command, bool isShown,
                                 pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    _exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // The program's own output may be JSON.
  ::dup2(isShown ? STDERR_FILENO : ::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str())); // execvp does not change them
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  _exit(127);
}

/// Runs the command and returns its exit status, or 128 + N if signal N ended it. `isShown`: its
/// standard output appears on standard error.
int runProcess(const std::vector<std::string> &command, bool isShown) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0)
    throw UserError(fmt::format("cannot start '{}': {}", command[0], std::strerror(errno)));
  if (child == 0)
    executeCommand(command, isShown, parent);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Refuses weights that the command could not start from, before a preparation that may take long.
/// A run that resumes needs no such weights.
void checkWeights(const Program &program, const Options &options) {
  const bool resumes = options.command == Command::Train && options.resume != "none" &&
                       !listSteps(runDirectory(program, options)).empty();
  if (!options.initFrom.empty() && !resumes) {
    requireSources(options.initFrom);
    checkStartingWeights(program, options.initFrom);
  }
}

/// Prepares the texts at `path`, and returns the prefix of their tokens.
std::string prepareTexts(const std::string &path, const Program &program, const Options &options,
                         bool isFirst) {
  checkWeights(program, options);
  const std::string texts = absolute(path), tokenizer = findTokenizer(options, path);
  const std::string prefix = cachePrefix(texts, tokenizer, program.vocab);
  const std::string tool = findTool("titan-prepare", "TITAN_PREPARE");
  makePrivateFolder(cacheFolder());
  // --force: replaces tokens of texts that have changed.
  const int status = runProcess({tool, texts, "--tokenizer", tokenizer, "--vocabulary",
                                 std::to_string(program.vocab), "--output", prefix, "--force"},
                                isFirst);
  if (status == 127)
    throw UserError(fmt::format("'{}' is text, but '{}', which tokenizes it, cannot be started: "
                                "set TITAN_PREPARE to its path",
                                path, tool));
  if (status != 0)
    throw UserError(
        fmt::format("titan-prepare could not prepare '{}' (status {}). For other fields, forms of "
                    "records and options, run titan-prepare yourself: titan-prepare --help",
                    path, status));
  if (!fs::exists(prefix + ".idx"))
    throw UserError(fmt::format("'{}' has preference pairs, which programs read as arrays: prepare "
                                "them by titan-prepare, and pass its .safetensors file to a "
                                "program with data.format=arrays",
                                path));
  return prefix;
}

} // namespace

void prepareData(const Program &program, const Options &options, bool isFirst, Settings &settings) {
  auto prepareSection = [&](const std::string &path, const std::string &format) {
    if (format != "indexed" || program.vocab == 0)
      return;
    const std::string given = settings.text(path, "");
    const std::string prepared = mapPaths(given, [&](const std::string &one) {
      return namesTexts(one) ? prepareTexts(one, program, options, isFirst) : one;
    });
    if (prepared != given)
      settings.set(readPair(path + "=\"" + prepared + "\"", "titan-prepare"));
  };
  const bool trains = options.command == Command::Train;
  if (trains || options.command == Command::Apply)
    prepareSection("data.path", settings.text("data.format", "text"));
  if (options.command == Command::Eval || (trains && settings.integer("eval.every", 0) > 0))
    prepareSection("eval.data.path",
                   settings.resolveAuto("eval.data.format", "data.format", "text"));
}

} // namespace titan::rt
