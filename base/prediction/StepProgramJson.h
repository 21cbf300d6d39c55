// The description of a step as JSON (`titanc info --step-program`), for `titan-predict`.
#pragma once

#include "base/prediction/StepProgram.h"

#include <string_view>

namespace titan {

std::string writeStepProgram(const StepProgram &step);

/// Throws UserError if the text is no description of a step.
StepProgram readStepProgram(std::string_view text);

} // namespace titan
