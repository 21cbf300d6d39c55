#include "compiler/driver/Compile.h"
#include "compiler/lowering/Lowering.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/registration/RegisterAll.h"

#include "mlir/IR/Diagnostics.h"

namespace titan::driver {

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
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

/// Reports a diagnostic of MLIR as one of titanc.
static mlir::LogicalResult convert(CompilerInstance &instance, mlir::Diagnostic &from) {
  bool isError = from.getSeverity() == mlir::DiagnosticSeverity::Error;
  if (!isError && from.getSeverity() != mlir::DiagnosticSeverity::Warning)
    return mlir::success(); // remarks are for developers of passes (titan-opt shows them)
  Location location = findSource(instance.sources, from.getLocation());
  if (!isError && isKnown(instance.diags, location))
    return mlir::success();
  Diagnostic &to =
      instance.diags.report(isError ? Code::PhaseFailed : Code::PhaseWarns, location, from.str());
  for (mlir::Diagnostic &note : from.getNotes())
    if (Location at = findSource(instance.sources, note.getLocation()); at.isValid())
      to.note(at, note.str());
  return mlir::success();
}

DiagnosticScope::DiagnosticScope(CompilerInstance &instance, mlir::MLIRContext &context)
    : handler(&context,
              [&instance](mlir::Diagnostic &diagnostic) { return convert(instance, diagnostic); }) {
}

mlir::OwningOpRef<mlir::ModuleOp> compile(CompilerInstance &instance, const sema::CheckedRun &run,
                                          mlir::MLIRContext &context,
                                          const pipelines::PhaseRun &phases,
                                          std::optional<int64_t> autoDegree,
                                          Insertions insertions) {
  DiagnosticScope scope(instance, context);
  mlir::OwningOpRef<mlir::ModuleOp> module = lowering::lower(run, instance.sources, context);
  if (module && autoDegree)
    dist::fixAutoDegree(dist::MeshOp::lookup(*module), *autoDegree);
  pipelines::PhaseRun extended = phases;
  if (insertions == Insertions::Run)
    for (const std::string &text : instance.options.insertions) // the command line has checked them
      extended.insertions.push_back(llvm::cantFail(pipelines::readInsertion(text)));
  if (module && mlir::succeeded(pipelines::runPhases(*module, extended)))
    return module;
  if (instance.diags.errorCount() == 0) // a pass of a plugin may fail without a diagnostic
    instance.diags.report(Code::PhaseFailed, run.train.loc, "a pass failed without a message");
  return {};
}

} // namespace titan::driver
