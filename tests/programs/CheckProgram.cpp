// Interprets a program after every phase and compares the results.

#include "tests/programs/CheckProgram.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/Processes.h"
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/GradientCheck.h"
#include "compiler/interpreter/Widen.h"
#include "dialects/dist/Analysis/DividedDims.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"

#include <map>
#include <sstream>

using namespace mlir;
using namespace titan;
using namespace titan::programs;

namespace {

/// One program function after one phase, executed: `train` for two steps, others for one.
struct Run {
  OwningOpRef<ModuleOp> module; ///< a copy, to which the session refers
  std::optional<interpreter::Session> session;
  double firstLoss = 0;
};

class ProgramCheck {
public:
  ProgramCheck(const std::string &file, const Options &options)
      : file(file), options(options), handler(&context.context, [this](mlir::Diagnostic &diag) {
          if (diag.getSeverity() == DiagnosticSeverity::Error)
            (llvm::raw_string_ostream(errors) << diag.getLocation() << ": " << diag << '\n')
                .flush();
          return success();
        }) {}

  Verdict check() {
    OwningOpRef<ModuleOp> module = StringRef(file).ends_with(".mlir") ? parse() : lower();
    if (!module)
      return {broken ? Verdict::Failed : Verdict::Refused, errors};
    for (const pipelines::Phase &phase : pipelines::getPhases())
      if (failed(checkPhase(*module, phase)))
        return {requestsImpossible() || isUneven(*module) ? Verdict::Refused : Verdict::Failed,
                phase.name.str() + ": " + errors};
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.2g", greatest);
    return {Verdict::Equal, text};
  }

private:
  /// Whether a run divides its step or its loss along a dimension that its model needs whole, or
  /// attention over heads that its model does not have. Only the phases can find out.
  bool requestsImpossible() const {
    return llvm::any_of(
        std::initializer_list<StringRef>{"so the step cannot be split into microbatches",
                                         "cannot compute the step in", "cannot compute the loss in",
                                         "cannot compute this attention by all_to_all"},
        [&](StringRef reason) { return StringRef(errors).contains(reason); });
  }

  /// Whether the degree that the launcher chooses does not divide an argument or a value. titanc
  /// and the program reject this when they know the degree.
  bool isUneven(ModuleOp module) const {
    dist::MeshOp mesh = dist::MeshOp::lookup(module);
    if (!mesh || !dist::findAutoAxis(mesh))
      return false;
    const dist::Degrees degrees = dist::getDegrees(mesh, options.autoDegree);
    auto isDivided = [&](Type type) {
      auto tensor = cast<ir::NamedTensorType>(type);
      for (auto [i, dim] : llvm::enumerate(tensor.getDims()))
        if (dim.getSize() % dist::getDivisor(tensor.getShardingOrReplicated(), i, degrees))
          return false;
      return true;
    };
    for (auto function : module.getOps<func::FuncOp>())
      if (!llvm::all_of(function.getArgumentTypes(), isDivided))
        return true;
    return failed(dist::checkDividedDims(module, degrees));
  }

  /// The settings of the run. Chunks are so small that these programs, too, compute in chunks.
  RunSettings getSettings(ModuleOp module) {
    RunSettings settings(module);
    settings.setInteger("min_chunk_bytes", 0, &context.context);
    return settings;
  }

  OwningOpRef<ModuleOp> parse() {
    return parseSourceFile<ModuleOp>(file, ParserConfig(&context.context));
  }

  OwningOpRef<ModuleOp> lower() {
    driver::CommonOptions common;
    common.file = file;
    driver::CompilerInstance session(common);
    OwningOpRef<ModuleOp> module;
    if (std::optional<sema::CheckedRun> run = session.check(); run && fits(session, *run))
      module = driver::compile(session, *run, context.context, {"model", ""});
    std::ostringstream stream;
    session.diags.print(stream, ColorMode::Never);
    errors = module ? "" : stream.str();
    // A program that passes the checks must lower to valid IR.
    broken = llvm::any_of(session.diags.all(), [](const titan::Diagnostic &diag) {
      return diag.code == Code::PhaseFailed;
    });
    return module;
  }

  /// Whether the interpreter's number of ranks is valid. titanc and the program check this when
  /// they know the number of processes.
  bool fits(driver::CompilerInstance &session, const sema::CheckedRun &run) const {
    bool isAuto = llvm::any_of(run.mesh.axes, [](const sema::Axis &axis) { return !axis.degree; });
    int64_t ranks = driver::computeLeastProcesses(run.mesh) * (isAuto ? options.autoDegree : 1);
    return driver::autoDegree(session, run, ranks) > 0;
  }

  LogicalResult checkPhase(ModuleOp module, const pipelines::Phase &phase) {
    if (phase.build) {
      PassManager manager(&context.context);
      phase.build(manager, getSettings(module));
      if (failed(manager.run(module)))
        return failure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (isProgram(function) && failed(checkFunction(module, phase.name, function.getName())))
        return failure();
    return success();
  }

  /// Whether the function is a whole program, not a fragment of one.
  static bool isProgram(func::FuncOp function) {
    return function->hasAttr(dist::kFragmentsAttr) ||
           (function->hasAttr(ir::attr::kProgram) && !function->hasAttr(dist::kFragmentAttr));
  }

  LogicalResult checkFunction(ModuleOp module, StringRef phase, StringRef name) {
    bool trains = name == "train" && phase != "model";
    FailureOr<Run> run = interpret(module, name, trains ? 2 : 1);
    if (failed(run))
      return failure();
    Run &before = runs[name.str()];
    if (before.session && failed(compare(before, *run, name, phase)))
      return failure();
    before = std::move(*run);
    bool differentiates = name == "train" && phase == "gradient" && options.differences;
    return success(!differentiates || succeeded(checkDifferences(module)));
  }

  FailureOr<Run> interpret(ModuleOp module, StringRef name, int steps) {
    Run run{module.clone(), std::nullopt};
    interpreter::widenToFloat64(*run.module);
    interpreter::Settings settings;
    settings.vocab = StringRef(file).ends_with(".mlir") ? options.vocab : 0;
    auto session =
        interpreter::Session::create(*run.module, name, options.autoDegree, std::move(settings));
    if (failed(session))
      return failure();
    run.session.emplace(std::move(*session));
    for (int step = 0; step < steps; ++step) {
      if (failed(run.session->step()))
        return failure();
      const interpreter::Result *loss = run.session->find({"output", "loss"});
      run.firstLoss = loss && step == 0 ? loss->global.data[0] : run.firstLoss;
    }
    return run;
  }

  LogicalResult compare(const Run &before, const Run &after, StringRef name, StringRef phase) {
    llvm::raw_string_ostream stream(errors);
    // The gradient phase adds results and a step. It must not change the loss of the first step,
    // except for the order of sums over microbatches or chunks.
    if (name == "train" && phase == "gradient") {
      if (std::abs(before.firstLoss - after.firstLoss) > 1e-12 * std::abs(before.firstLoss))
        stream << "the loss was " << before.firstLoss << " and is " << after.firstLoss << '\n';
      return success(errors.empty());
    }
    interpreter::Comparison comparison =
        interpreter::compareResults(*after.session, *before.session);
    const interpreter::Deviation worst = comparison.getGreatest();
    greatest = std::max(greatest, worst.value);
    for (const std::string &role : comparison.missing)
      stream << "only one of the phases gives " << role << '\n';
    if (worst.value > options.tolerance)
      stream << '@' << name << " deviates by " << worst.value << " in " << worst.role.str() << '\n';
    return success(errors.empty());
  }

  LogicalResult checkDifferences(ModuleOp module) {
    FailureOr<Run> run = interpret(module, "train", 0);
    if (failed(run))
      return failure();
    std::string report;
    llvm::raw_string_ostream stream(report);
    LogicalResult agrees = interpreter::checkGradients(*run->session, 1e-6, stream);
    if (failed(agrees))
      errors += report;
    return agrees;
  }

  std::string file;
  const Options &options;
  driver::CompilerContext context;
  std::string errors;
  bool broken = false; ///< rejected because of a compiler bug
  ScopedDiagnosticHandler handler;
  std::map<std::string, Run> runs; ///< of the previous phase, by function
  double greatest = 0;
};

} // namespace

Verdict programs::checkProgram(const std::string &file, const Options &options) {
  return ProgramCheck(file, options).check();
}
