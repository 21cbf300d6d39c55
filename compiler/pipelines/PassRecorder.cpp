// Records which pass runs and which one fails.

#include "compiler/pipelines/PassRecorder.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace titan::pipelines {
namespace {

/// The pass that this thread runs; null if none does.
thread_local const Pass *runningPass = nullptr;

/// The flag of a pass; passes of plugins may lack one.
StringRef getName(const Pass &pass) {
  return pass.getArgument().empty() ? pass.getName() : pass.getArgument();
}

class PassRecorder : public PassInstrumentation {
public:
  explicit PassRecorder(std::string &failed) : failed(failed) {}

  void runBeforePass(Pass *pass, Operation *) override { runningPass = pass; }
  void runAfterPass(Pass *, Operation *) override { runningPass = nullptr; }
  // MLIR serializes the calls of an instrumentation. The innermost pass fails first.
  void runAfterPassFailed(Pass *pass, Operation *) override {
    runningPass = nullptr;
    if (failed.empty())
      failed = getName(*pass).str();
  }

private:
  std::string &failed;
};

} // namespace

std::unique_ptr<PassInstrumentation> makePassRecorder(std::string &failed) {
  return std::make_unique<PassRecorder>(failed);
}

static void printRunningPass(void *name) {
  llvm::errs() << static_cast<const char *>(name) << ": crashed";
  if (runningPass)
    llvm::errs() << " in the pass `" << getName(*runningPass) << "`";
  llvm::errs() << '\n';
}

void reportCrashes(const char *name) {
  llvm::setBugReportMsg("");
  llvm::sys::PrintStackTraceOnErrorSignal(name);
  llvm::sys::AddSignalHandler(printRunningPass, const_cast<char *>(name));
}

} // namespace titan::pipelines
