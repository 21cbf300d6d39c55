#include "compiler/driver/Verification.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/Notice.h"
#include "compiler/interpreter/Widen.h"

#include "llvm/Support/FormatVariadic.h"

#include <limits>

namespace titan::driver {
namespace {

using interpreter::Comparison;
using interpreter::Deviation;
using interpreter::Role;
using interpreter::Session;
using mlir::FailureOr;
using mlir::ModuleOp;
using mlir::OwningOpRef;

ResultKind getKind(const Role &role) {
  if (role.kind == "output")
    return role.name == "grad_norm" ? ResultKind::GradientNorm : ResultKind::Loss;
  if (role.kind == "gradient")
    return ResultKind::Gradient;
  return role.kind == "state" ? ResultKind::State : ResultKind::Parameter;
}

/// The source location of a loss, of a metric, or of a parameter with its gradient and optimizer
/// state.
Location findLocation(const sema::Model &model, const Role &role) {
  if (role.kind == "output") {
    for (const sema::Output &loss : model.losses)
      if (role.name == (loss.name.empty() ? "loss" : "loss." + loss.name))
        return loss.loc;
    for (const sema::Output &metric : model.metrics)
      if (role.name == "metric." + metric.name)
        return metric.loc;
    return model.losses.front().loc;
  }
  const std::string name =
      role.kind == "state" ? role.name.substr(role.name.find('.') + 1) : role.name;
  for (const sema::Parameter &parameter : model.parameters)
    if (parameter.name == name)
      return parameter.loc;
  return {};
}

/// Changes all parameters by four units of rounding, up and down in turn. Fails for a program in
/// turns, which have arguments of their own.
mlir::LogicalResult perturb(Session &session) {
  mlir::func::FuncOp function = session.getFunction();
  if (function->hasAttr(ir::attr::kTurn))
    return mlir::failure();
  constexpr double relative = 4 * std::numeric_limits<double>::epsilon();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (interpreter::getArgumentRole(function, i).kind != "param")
      continue;
    FailureOr<ir::HostTensor> value = session.getArgument(i);
    if (failed(value))
      return mlir::failure();
    for (size_t at = 0; at < value->data.size(); ++at)
      value->data[at] *= at % 2 ? 1 - relative : 1 + relative;
    session.setArgument(i, *value);
  }
  return mlir::success();
}

/// A program in float64 with its state.
struct Program {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Session> session;
};

class Verifier {
public:
  Verifier(CompilerInstance &instance, const sema::CheckedRun &run, int64_t processes)
      : instance(instance), run(run), autoDegree(chooseAutoDegree(run.mesh, processes)) {}

  std::optional<Verification> verify(int64_t steps) {
    if (!compileBoth())
      return std::nullopt;
    std::optional<Verification> result = verifyPhase(*phases.back().second, steps);
    if (!result)
      report(*refusal);
    else if (result->fault)
      result->fault->phase = findPhase(result->steps);
    return result;
  }

private:
  /// The program of one device after the gradient phase, without the passes that users insert; the
  /// parallel program after every phase.
  bool compileBoth() {
    Notice notice("compiling ...");
    sema::CheckedRun alone = run;
    alone.mesh = {};
    pipelines::PhaseRun gradient;
    gradient.stopAfter = "gradient";
    reference = compile(instance, alone, compiler.context, gradient, {}, Insertions::Ignored);
    if (!reference)
      return false;
    pipelines::PhaseRun all;
    all.observe = [&](llvm::StringRef phase, ModuleOp module) {
      if (phase != "model") // which only returns losses
        phases.emplace_back(phase.str(), module.clone());
    };
    return bool(compile(instance, run, compiler.context, all));
  }

  std::optional<Program> start(ModuleOp module) {
    Program program{OwningOpRef<ModuleOp>(module.clone()), nullptr};
    interpreter::widenToFloat64(*program.module);
    interpreter::Settings settings;
    settings.seed = static_cast<uint64_t>(run.run["seed"].integer);
    auto session = Session::create(*program.module, "train", autoDegree, std::move(settings));
    if (failed(session))
      return std::nullopt;
    program.session = std::make_unique<Session>(std::move(*session));
    return program;
  }

  /// Compares the program after a phase with that of one device. Nothing, and a refusal, if one of
  /// them cannot be started.
  std::optional<Verification> verifyPhase(ModuleOp module, int64_t steps) {
    refusal.reset();
    mlir::ScopedDiagnosticHandler handler(&compiler.context, [&](mlir::Diagnostic &diagnostic) {
      if (!refusal)
        refusal = {findSource(instance.sources, diagnostic.getLocation()), diagnostic.str()};
      return mlir::success();
    });
    std::optional<Program> one = start(*reference), many = start(module);
    if (!one || !many)
      return std::nullopt;
    Verification result;
    result.devices = many->session->getMesh().getNumRanks();
    while (result.steps < steps && !result.fault && result.undecided.empty()) {
      ++result.steps;
      Notice notice("step " + llvm::Twine(result.steps) + " of " + llvm::Twine(steps) + " ...");
      if (failed(one->session->step()))
        return std::nullopt;
      if (failed(many->session->step()))
        result.fault = refusal;
      else
        add(findDecided(compareResults(*many->session, *one->session), *one->session, result),
            result);
    }
    return result;
  }

  void report(const ProgramFault &fault) {
    instance.diags.report(Code::PhaseFailed, fault.location, fault.message);
  }

  /// The deviations without those that rounding explains: some results amplify it, and differ as
  /// much if the parameters of one device change by rounding.
  Comparison findDecided(Comparison comparison, const Session &one, Verification &result) {
    auto exceeds = [](const Deviation &deviation) {
      return deviation.value > getLimit(getKind(deviation.role));
    };
    if (llvm::none_of(comparison.deviations, exceeds))
      return comparison;
    std::optional<Program> rounded = start(*reference);
    if (!rounded || failed(perturb(*rounded->session)))
      return comparison;
    for (int64_t step = 0; step < result.steps; ++step)
      if (failed(rounded->session->step()))
        return comparison;
    const Comparison ofRounding = compareResults(*rounded->session, one);
    llvm::erase_if(comparison.deviations, [&](const Deviation &deviation) {
      const bool isUndecided =
          exceeds(deviation) && llvm::any_of(ofRounding.deviations, [&](const Deviation &other) {
            return other.role == deviation.role && other.value > deviation.value / 100;
          });
      if (isUndecided)
        result.undecided.push_back(deviation.role.str());
      return isUndecided;
    });
    return comparison;
  }

  void add(const Comparison &comparison, Verification &result) const {
    std::array<int64_t, numResultKinds> counts{};
    for (const Deviation &deviation : comparison.deviations) {
      const ResultKind kind = getKind(deviation.role);
      WorstDeviation &worst = result.worst[static_cast<size_t>(kind)];
      worst.count = ++counts[static_cast<size_t>(kind)];
      if (worst.step && !(deviation.value > worst.deviation.value))
        continue;
      worst.deviation = deviation;
      worst.step = result.steps;
      worst.location = findLocation(run.train, deviation.role);
    }
    for (size_t kind = 0; kind < numResultKinds && !result.fault; ++kind)
      result.fault = findFault(static_cast<ResultKind>(kind), result.worst[kind]);
  }

  static std::optional<ProgramFault> findFault(ResultKind kind, const WorstDeviation &worst) {
    if (worst.deviation.value <= getLimit(kind))
      return std::nullopt;
    return ProgramFault{worst.location,
                        llvm::formatv("{0} deviates by {1:e2} from the program of one device, more "
                                      "than {2:e0}, in step {3}",
                                      worst.deviation.role.str(), worst.deviation.value,
                                      getLimit(kind), worst.step)};
  }

  /// The first phase after which these steps have a fault.
  std::string findPhase(int64_t steps) {
    for (const auto &[name, module] : phases)
      if (std::optional<Verification> result = verifyPhase(*module, steps);
          !result || result->fault)
        return name;
    return {};
  }

  CompilerInstance &instance;
  const sema::CheckedRun &run;
  const int64_t autoDegree;
  CompilerContext compiler;
  OwningOpRef<ModuleOp> reference;
  std::optional<ProgramFault> refusal; ///< the first error of the interpreter
  std::vector<std::pair<std::string, OwningOpRef<ModuleOp>>> phases;
};

} // namespace

const char *getName(ResultKind kind) {
  switch (kind) {
  case ResultKind::Loss:
    return "losses";
  case ResultKind::Gradient:
    return "gradients";
  case ResultKind::GradientNorm:
    return "gradient norm";
  case ResultKind::Parameter:
    return "parameters";
  case ResultKind::State:
    return "optimizer state";
  }
  return "";
}

double getLimit(ResultKind kind) {
  return kind == ResultKind::Loss ? 1e-11 : 1e-10;
}

std::optional<Verification> verify(CompilerInstance &instance, const sema::CheckedRun &run,
                                   int64_t processes, int64_t steps) {
  return Verifier(instance, run, processes).verify(steps);
}

} // namespace titan::driver
