// Whether the parallel program of a run computes what one device computes: both are compiled,
// interpreted in float64 on virtual devices, and compared step by step.
#pragma once

#include "compiler/driver/CompilerInstance.h"
#include "compiler/driver/Shrink.h"
#include "compiler/interpreter/Compare.h"

namespace titan::driver {

/// The kinds of results of a step, in the order in which a step computes them. The first kind with
/// a deviation is therefore nearest to the cause of the deviation.
enum class ResultKind { Loss, Gradient, GradientNorm, Parameter, State };
inline constexpr size_t numResultKinds = 5;

/// "losses", "gradients", ...
const char *getName(ResultKind kind);
/// The largest deviation (interpreter::getDeviation) that float64 explains: that of two
/// computations which differ only in the order of sums.
double getLimit(ResultKind kind);

/// The largest deviation among results of one kind.
struct WorstDeviation {
  int64_t count = 0; ///< results of one step
  interpreter::Deviation deviation;
  int64_t step = 0;
  Location location; ///< of the parameter or the loss
};

/// How the parallel program differs from the program of one device.
struct ProgramFault {
  Location location;
  std::string message;
  std::string phase = {}; ///< the first after which the program has a fault
};

struct Verification {
  int64_t devices = 1, steps = 0; ///< virtual devices; steps that were compared
  std::array<WorstDeviation, numResultKinds> worst;
  /// Results of the last step that rounding decides, such as the sign of a gradient that is 0 but
  /// for rounding. They are not in `worst`, and later steps are not compared.
  std::vector<std::string> undecided;
  /// In the first step with a fault: the error of the interpreter, or the first kind of result
  /// whose deviation exceeds its limit.
  std::optional<ProgramFault> fault;

  const WorstDeviation &operator[](ResultKind kind) const {
    return worst[static_cast<size_t>(kind)];
  }
};

/// Verifies steps until one has a fault. Nothing after an error.
std::optional<Verification> verify(CompilerInstance &instance, const sema::CheckedRun &run,
                                   int64_t processes, int64_t steps);

/// The result as text and as JSON, on standard output.
void printVerification(const sema::CheckedRun &run, const ShrunkRun &shrunk,
                       const Verification &verified, const SourceManager &sources);
void printVerificationJson(const sema::CheckedRun &run, const ShrunkRun &shrunk,
                           const Verification &verified, const SourceManager &sources);

} // namespace titan::driver
