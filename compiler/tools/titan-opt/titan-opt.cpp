// titan-opt: runs passes and phases of Titan on textual IR, with the options of mlir-opt.

#include "compiler/pipelines/Phases.h"
#include "dialects/registration/RegisterAll.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace titan;

/// Filled during command-line parsing, after earlier plugins are loaded.
static std::vector<pipelines::Insertion> insertions;

static void insert(const std::string &text) {
  Expected<pipelines::Insertion> insertion = pipelines::readInsertion(text);
  if (!insertion) {
    WithColor::error(errs(), "titan-opt") << toString(insertion.takeError()) << '\n';
    std::exit(2);
  }
  insertions.push_back(std::move(*insertion));
}

static cl::list<std::string> insertPass("insert-pass", cl::value_desc("after:NAME=PASS"),
                                        cl::callback([](const std::string &text) { insert(text); }),
                                        cl::desc("Run a pass after or before a phase, or a pass of "
                                                 "one, in --titan-phase-PHASE. The plugin of the "
                                                 "pass must be loaded before this option"));

static cl::opt<bool> listPhases("list-phases", cl::desc("Print the compiler's phases and stop"),
                                cl::callback([](const bool &) {
                                  pipelines::printPhases(outs());
                                  std::exit(0);
                                }));

static cl::opt<bool> printsStatistics("titan-statistics",
                                      cl::desc("Print the statistics of all passes at the end"));

/// An LLVM with assertions has this option already.
static void registerDebugOnly() {
  if (cl::getRegisteredOptions().count("debug-only"))
    return;
  static cl::list<std::string> debugOnly(
      "debug-only", cl::CommaSeparated, cl::value_desc("PASS,..."),
      cl::desc("Print the decisions of these passes"),
      cl::callback([](const std::string &pass) { addDebugged(pass); }));
}

/// MLIR loads the plugins, and does not tell their names.
static void notePlugins(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments)
    if (argument.consume_front("--load-pass-plugin=") ||
        argument.consume_front("-load-pass-plugin="))
      pipelines::addPlugin(argument.str());
}

int main(int argc, char **argv) {
  notePlugins(ArrayRef(argv, argc));
  mlir::DialectRegistry registry;
  registerDebugOnly();
  registerDialects(registry);
  registerPasses();
  pipelines::registerPhasePipelines(insertions);
  mlir::registerTransformsPasses();
  mlir::LogicalResult result =
      mlir::MlirOptMain(argc, argv, "Titan's optimizer driver\n", registry);
  if (printsStatistics)
    printStatistics(errs());
  for (const pipelines::Insertion &insertion : insertions)
    if (!insertion.isUsed) {
      WithColor::error(errs(), "titan-opt")
          << "`" << insertion.text << "` belongs to --titan-phase-" << insertion.phase
          << ", which is not requested\n";
      return 2;
    }
  return mlir::asMainReturnCode(result);
}
