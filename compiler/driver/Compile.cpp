#include "compiler/driver/Compile.h"
#include "compiler/lowering/Lowering.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/registration/RegisterAll.h"

#include "mlir/IR/Diagnostics.h"

namespace titan::driver {

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  pipelines::registerPluginDialects(registry);
  return registry;
}

CompilerContext::CompilerContext() : context(makeRegistry()) {
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // users wrote no operations
}

Location findSource(const SourceManager &sources, mlir::Location location) {
  auto at = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!at)
    return {};
  for (uint32_t file = 0; file < sources.bufferCount(); ++file)
    if (at.getFilename().getValue() == llvm::StringRef(sources.name(FileId{file})))
      return {FileId{file}, at.getLine(), at.getColumn(), 1};
  return {};
}

/// Whether semantic analysis already reported this location: it reports unused parameters, whose
/// gradient is zero.
static bool isKnown(const DiagnosticEngine &diags, const Location &location) {
  return location.isValid() && llvm::any_of(diags.all(), [&](const Diagnostic &known) {
           return known.code != Code::PhaseWarns && known.location.file == location.file &&
                  known.location.line == location.line && known.location.col == location.col;
         });
}

static Code getCode(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Code::PhaseFailed;
  case mlir::DiagnosticSeverity::Warning:
    return Code::PhaseWarns;
  default:
    return Code::PhaseRemarks;
  }
}

/// Reports a diagnostic of MLIR as one of titanc. Returns null if it is known already.
static Diagnostic *convert(CompilerInstance &instance, mlir::Diagnostic &from) {
  const Code code = getCode(from.getSeverity());
  Location location = findSource(instance.sources, from.getLocation());
  if (code == Code::PhaseWarns && isKnown(instance.diags, location))
    return nullptr;
  Diagnostic &to = instance.diags.report(code, location, from.str());
  for (mlir::Diagnostic &note : from.getNotes())
    if (Location at = findSource(instance.sources, note.getLocation()); at.isValid())
      to.note(at, note.str());
  return &to;
}

DiagnosticScope::DiagnosticScope(CompilerInstance &instance, mlir::MLIRContext &context)
    : instance(instance), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        Diagnostic *to = convert(this->instance, diagnostic);
        if (to && to->code == Code::PhaseFailed && !firstError)
          firstError = to;
        return mlir::success();
      }) {}

void DiagnosticScope::explain(const pipelines::PhaseFailure &failure, const Location &run) {
  if (!firstError) // a pass of a plugin may fail without a diagnostic
    firstError = &instance.diags.report(Code::PhaseFailed, run,
                                        "the pass `" + failure.pass + "` failed without a message");
  if (failure.inserted.empty())
    return;
  std::string inserted;
  for (const std::string &text : failure.inserted)
    inserted += (inserted.empty() ? "`" : ", `") + text + "`";
  firstError->note("the pass `" + failure.pass +
                   "` failed in or after what was inserted: " + inserted);
}

mlir::OwningOpRef<mlir::ModuleOp> runPhases(CompilerInstance &instance,
                                            mlir::OwningOpRef<mlir::ModuleOp> module,
                                            const pipelines::PhaseRun &phases,
                                            Insertions insertions, const Location &blamed,
                                            DiagnosticScope &scope) {
  pipelines::PhaseRun extended = phases;
  extended.onFailure = [&](const pipelines::PhaseFailure &failure) {
    scope.explain(failure, blamed);
  };
  if (insertions == Insertions::Run) {
    extended.pipeline = instance.options.pipeline;
    for (const std::string &text : instance.options.insertions) // the command line has checked them
      extended.insertions.push_back(llvm::cantFail(pipelines::readInsertion(text)));
  }
  if (mlir::failed(pipelines::runPhases(*module, extended)))
    return {};
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> compile(CompilerInstance &instance, const sema::CheckedRun &run,
                                          mlir::MLIRContext &context,
                                          const pipelines::PhaseRun &phases,
                                          std::optional<int64_t> autoDegree,
                                          Insertions insertions) {
  DiagnosticScope scope(instance, context);
  mlir::OwningOpRef<mlir::ModuleOp> module = lowering::lower(run, instance.sources, context);
  if (!module)
    return {};
  if (autoDegree)
    dist::fixAutoDegree(dist::MeshOp::lookup(*module), *autoDegree);
  return runPhases(instance, std::move(module), phases, insertions, run.train.loc, scope);
}

} // namespace titan::driver
