// `titanc verify`: whether a run on its mesh computes what one device computes.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Notice.h"
#include "compiler/driver/Verification.h"

namespace titan::driver {
namespace {

/// The run with small sizes, or with the file's sizes if `verify.keepSizes` is set. Nothing after
/// an error of the run itself.
std::optional<ShrunkRun> chooseSizes(CompilerInstance &instance, const VerifyOptions &verify) {
  std::optional<sema::CheckedRun> run = instance.checkRun();
  if (!run)
    return std::nullopt;
  if (verify.keepSizes)
    return ShrunkRun{instance.options, {}};
  Notice notice("choosing small sizes ...");
  return shrink(instance.options, *run, verify.processes);
}

void report(CompilerInstance &instance, const ProgramFault &fault) {
  instance.diags.report(Code::ProgramsDiffer, fault.location, fault.message)
      .note("the phase `" + fault.phase + "` is the first phase with this fault")
      .help("the fault is in Titan, or in a pass of a plugin; report it with this file");
}

} // namespace

int verifyCommand(const CommonOptions &options, const VerifyOptions &verify) {
  CompilerInstance whole(options);
  std::optional<ShrunkRun> shrunk = chooseSizes(whole, verify);
  if (!shrunk)
    return whole.finish(1);
  CompilerInstance instance(shrunk->options);
  std::optional<sema::CheckedRun> run = instance.checkRun();
  if (!run)
    return instance.finish(1);
  std::optional<Verification> verified =
      driver::verify(instance, *run, verify.processes, verify.steps);
  if (!verified)
    return instance.finish(1);
  auto print = options.json ? printVerificationJson : printVerification;
  print(*run, *shrunk, *verified, instance.sources);
  if (verified->fault)
    report(instance, *verified->fault);
  return instance.finish();
}

} // namespace titan::driver
