// The driver of titan-interpret.

#include "compiler/interpreter/Driver.h"

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/DecodeCheck.h"
#include "compiler/interpreter/Files.h"
#include "compiler/interpreter/GradientCheck.h"
#include "compiler/interpreter/LearningRate.h"
#include "compiler/interpreter/Report.h"
#include "compiler/interpreter/Widen.h"
#include "dialects/titan/IR/Stacked.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

namespace {

/// A module and its text, which diagnostics quote.
struct Loaded {
  llvm::SourceMgr sources;
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
};

LogicalResult load(MLIRContext &context, const std::string &file, bool float64, Loaded &loaded) {
  loaded.handler = std::make_unique<SourceMgrDiagnosticHandler>(loaded.sources, &context);
  loaded.module = parseSourceFile<ModuleOp>(file, loaded.sources, &context);
  if (!loaded.module)
    return failure();
  if (float64)
    widenToFloat64(*loaded.module);
  return success();
}

/// Adds the results by name for --dump, and replaces earlier ones. Stacked tensors are written
/// slot by slot, as weight files store them.
void collect(const Session &session, std::map<std::string, ir::HostTensor> &tensors) {
  for (const Result &result : session.getResults()) {
    func::FuncOp function = result.function;
    std::string prefix = result.role.kind + ".";
    Attribute stacked = function.getResultAttr(result.index, ir::attr::kStacked);
    if (!stacked) {
      tensors[prefix + result.role.name] = result.global;
      continue;
    }
    ir::Stack stack =
        ir::getStack(stacked, cast<ir::NamedTensorType>(function.getResultTypes()[result.index]));
    SmallVector<std::string> layers =
        ir::getSlotNames(result.role.name, stack, /*isState=*/result.role.kind == "state");
    size_t size = result.global.data.size() / layers.size();
    for (auto [layer, name] : llvm::enumerate(layers)) {
      ir::HostTensor slotTensor;
      slotTensor.shape.assign(result.global.shape.begin() + stack.iterations.size(),
                              result.global.shape.end());
      auto first = result.global.data.begin() + layer * size;
      slotTensor.data.assign(first, first + size);
      tensors[prefix + name] = std::move(slotTensor);
    }
  }
}

LogicalResult report(const Comparison &comparison, double tolerance, raw_ostream &stream) {
  for (const std::string &role : comparison.missing)
    stream << "only one of the programs has " << role << '\n';
  const size_t compared = comparison.deviations.size();
  const Deviation greatest = comparison.getGreatest();
  bool agrees = compared > 0 && greatest.value <= tolerance;
  stream << (agrees ? "equal" : "DIFFERENT") << ": " << compared << " results compared";
  if (compared > 0)
    stream << ", greatest deviation " << format(greatest.value) << " in " << greatest.role.str();
  stream << '\n';
  return success(agrees);
}

LogicalResult runSteps(Session &session, const DriverOptions &options, raw_ostream &stream) {
  std::map<std::string, ir::HostTensor> dumped; // of the latest turns
  for (int64_t step = 1; step <= options.steps; ++step) {
    if (failed(session.step()))
      return failure();
    if (options.steps > 1)
      stream << "step " << step << '\n';
    printResults(session, options.gather, stream);
    if (options.local)
      printLocalResults(session, stream);
    if (!options.dump.empty())
      collect(session, dumped);
  }
  return options.dump.empty() ? success() : writeTensors(options.dump, dumped);
}

LogicalResult compareSteps(Session &one, Session &other, const DriverOptions &options,
                           raw_ostream &stream) {
  for (int64_t step = 1; step <= options.steps; ++step) {
    if (failed(one.step()) || failed(other.step()))
      return failure();
    if (options.steps > 1)
      stream << "step " << step << ": ";
    if (failed(report(compareResults(one, other), options.tolerance, stream)))
      return failure();
  }
  return success();
}

LogicalResult printLearningRates(ModuleOp module, int64_t steps, raw_ostream &stream) {
  for (int64_t step = 1; step <= steps; ++step) {
    FailureOr<double> rate = getLearningRate(module, step);
    if (failed(rate))
      return failure();
    stream << "step " << step << ": " << format(*rate) << '\n';
  }
  return success();
}

} // namespace

LogicalResult interpreter::drive(MLIRContext &context, DriverOptions options, raw_ostream &stream) {
  if (!options.inputs.empty()) {
    auto given = readTensors(options.inputs);
    if (failed(given))
      return failure();
    options.settings.given = std::move(*given);
  }
  bool float64 = options.float64 || options.checkGradients || options.checkDecode;
  Loaded loaded;
  if (failed(load(context, options.file, float64, loaded)))
    return failure();
  if (options.learningRates)
    return printLearningRates(*loaded.module, options.steps, stream);
  if (options.checkDecode)
    return checkDecode(*loaded.module, options.autoDegree, options.settings, options.tolerance,
                       stream);
  auto session =
      Session::create(*loaded.module, options.program, options.autoDegree, options.settings);
  if (failed(session))
    return failure();
  int64_t ranks = session->getMesh().getNumRanks();
  if (options.ranks > 0 && ranks > 1 && options.ranks != ranks)
    return session->getFunction().emitError("runs on ")
           << ranks << " ranks, not on " << options.ranks;
  if (options.checkGradients)
    return checkGradients(*session, options.tolerance, stream);
  if (options.compare.empty())
    return runSteps(*session, options, stream);
  Loaded otherLoaded;
  if (failed(load(context, options.compare, float64, otherLoaded)))
    return failure();
  auto other =
      Session::create(*otherLoaded.module, options.program, options.autoDegree, options.settings);
  if (failed(other))
    return failure();
  return compareSteps(*session, *other, options, stream);
}
