// The options that an optimizer or a schedule declares by `option` statements in its body.
#pragma once

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/runs/Options.h"

namespace titan::sema {

/// The specifications of the declared options, in order. A path is the name of the option. Options
/// of schedules may be set at launch. Reports invalid declarations and leaves them out.
std::vector<OptionSpec> readOptionSpecs(const Symbol &declared, const Library &library,
                                        DiagnosticEngine &diags);

} // namespace titan::sema
