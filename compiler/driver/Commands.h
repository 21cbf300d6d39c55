// The commands of titanc, one function each. They print results to stdout and diagnostics to stderr
// and return the exit status.
#ifndef TITAN_COMPILER_DRIVER_COMMANDS_H
#define TITAN_COMPILER_DRIVER_COMMANDS_H

#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// Checks everything in a file. With `verify`, reports the differences between the diagnostics and
/// the comments that expect them (compiler/diagnostics/ExpectedDiagnostics.h).
int checkCommand(const CommonOptions &options, bool verify);

struct InfoOptions {
  bool options = false;  ///< list every option instead
  bool byLine = false;   ///< what every source line costs, too
  int64_t processes = 0; ///< how many will be started, for an `auto` degree; 0: the fewest
  int64_t threads = 0;   ///< of each; 0: an equal share of this machine's
};
/// What is known of a run before it runs: parameters, arithmetic, memory, communication, settings.
int infoCommand(const CommonOptions &options, const InfoOptions &info);
/// All paths that can be set: of any run, and of this one's model, map and parameters.
void printOptions(const sema::CheckedRun *run, bool json);

struct PrintOptions {
  std::string phase;         ///< print the IR after it; empty: print nothing
  std::string dumpDirectory; ///< write the IR after every phase here; empty: nowhere
  bool locations = false;
};
/// Prints the IR after a phase, or writes that of all phases.
int printCommand(const CommonOptions &options, const PrintOptions &print);

struct FormatOptions {
  std::vector<std::string> files; ///< "-" reads standard input and writes standard output
  bool check = false;             ///< change nothing; status 1 if a file would change
};
/// Lays files out in the one way.
int formatCommand(const CommonOptions &common, const FormatOptions &options);

/// Makes a directory with a small program and a text to train it on.
int newCommand(const CommonOptions &options, const std::string &directory);

struct CacheOptions {
  bool clean = false; ///< remove what is there
};
/// Lists the executables that the cache has, or removes them.
int cacheCommand(const CommonOptions &options, const CacheOptions &cache);

/// The long description of a code.
int explainCommand(const std::string &code);

/// Parses the command line and runs the command that it names.
int runTitanc(int argc, char **argv);

} // namespace titan::driver

#endif
