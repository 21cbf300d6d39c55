// The commands of titanc, one function each. They print results to stdout and diagnostics to stderr
// and return the exit status.
#pragma once

#include "compiler/driver/CompilerInstance.h"
#include "compiler/driver/ScheduleOptions.h"
#include "compiler/emission/EmitCpp.h"

namespace titan::driver {

/// Checks everything in a file. With `verify`, reports the differences between the diagnostics and
/// the comments that expect them (compiler/diagnostics/ExpectedDiagnostics.h).
int checkCommand(const CommonOptions &options, bool verify);

struct InfoOptions {
  bool options = false;  ///< list every option instead
  bool byLine = false;   ///< also the costs of every source line
  bool groups = false;   ///< also the ranks of all groups of the mesh
  int64_t processes = 0; ///< processes to start, for an `auto` degree; 0: the minimum
  int64_t threads = 0;   ///< per process; 0: an equal share of this machine
  emission::Target target = emission::Target::Cpu; ///< whose memory to report
  std::string machine;     ///< --machine: predict the time of a step; empty: do not
  std::string stepProgram; ///< --step-program: write the description of a step to this file
};
/// Reports parameters, arithmetic, memory, communication and settings of a run.
int infoCommand(const CommonOptions &options, const InfoOptions &info);
/// All settable paths: of any run, and of the model, the map and the parameters of this one.
void printOptions(const sema::CheckedRun *run, bool json);

struct VerifyOptions {
  int64_t processes = 0; ///< virtual devices at most; 0: the default
  int64_t steps = 3;
  bool keepSizes = false; ///< use the sizes of the file instead of small ones
};
/// Compares the parallel program of a run with that of one device, on virtual devices.
int verifyCommand(const CommonOptions &options, const VerifyOptions &verify);

struct PrintOptions {
  std::string phase;         ///< print the IR after this phase; empty: print nothing
  std::string dumpDirectory; ///< write the IR after every phase here; empty: nowhere
  bool locations = false;
};
/// Prints the IR after a phase, or writes the IR after every phase.
int printCommand(const CommonOptions &options, const PrintOptions &print);

struct FormatOptions {
  std::vector<std::string> files; ///< "-" reads standard input and writes standard output
  bool check = false;             ///< change nothing; status 1 if a file would change
};
/// Formats files.
int formatCommand(const CommonOptions &common, const FormatOptions &options);

/// Creates a directory with a small program and training text.
int newCommand(const CommonOptions &options, const std::string &directory);

/// `titanc import --lora`: rules of the written run for low-rank adapters (std.adapter).
struct LoraOptions {
  int64_t rank = 0;            ///< 0: none
  double alpha = 0;            ///< 0: twice the rank
  double rate = 0;             ///< of dropout
  std::string pattern = "*.*"; ///< names of parameters: those of layers
};

struct ImportOptions {
  std::string input;                ///< a config.json, or a directory that contains one
  std::string output;               ///< empty or "-": the standard output
  std::vector<std::string> modules; ///< --with: files with further declarations
  LoraOptions lora;
  std::string preferences; ///< the loss of pairs of answers (std.preferences); empty: none
  bool writesFile() const { return !output.empty() && output != "-"; }
};
/// The text of a program for a model of other software; empty after an error, which is reported.
/// If `instance.options.text` is set, it is the configuration; else `options.input` is read.
std::optional<std::string> importModel(CompilerInstance &instance, const ImportOptions &options);
/// Writes the text of the program to `options.output`.
int importCommand(const CommonOptions &common, const ImportOptions &options);

struct ExportOptions {
  std::string directory; ///< --onnx: of exported weights; the model is written beside them
  int64_t opset = 0;     ///< the version of the operators
  bool caches = true;    ///< read and return the keys and values of earlier positions
};
/// Writes a model of ONNX that computes the logits.
int exportCommand(const CommonOptions &common, const ExportOptions &options);

struct CacheOptions {
  bool clean = false; ///< remove the executables instead
};
/// Lists the cached executables, or removes them.
int cacheCommand(const CommonOptions &options, const CacheOptions &cache);

struct PlanOptions {
  std::string machine;
  int64_t devices = 0;
  double memory = 0; ///< GiB of a device; 0: that of the machine
};
/// Searches the degrees of the map and settings of memory for the least predicted time.
int planCommand(const CommonOptions &options, const PlanOptions &plan);

struct CalibrateOptions {
  std::string output = "machine.toml"; ///< "-": the standard output
};
/// Measures this machine and writes a machine file.
int calibrateCommand(const CommonOptions &options, const CalibrateOptions &calibrate);

struct FlightOptions {
  std::string directory; ///< of the run
  int rank = -1;         ///< print the entries of this rank; -1: find the rank that did not come
  int64_t last = 40;     ///< the most entries
};
/// Reads the flight records of a run that did not finish.
int flightCommand(const FlightOptions &options);

/// Generates a pipeline schedule, or verifies a table of one, and shows it.
int scheduleCommand(const CommonOptions &common, const ScheduleOptions &options);
/// The legal values for the name of a schedule: "gpipe, 1f1b, ..., all".
std::string listScheduleNames();

/// The long description of a code.
int explainCommand(const std::string &code);

/// Parses the command line and runs its command.
int runTitanc(int argc, char **argv);

} // namespace titan::driver
