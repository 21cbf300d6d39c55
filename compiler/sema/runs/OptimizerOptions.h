// The options that an optimizer declares by `option` statements in its body.
#ifndef TITAN_COMPILER_SEMA_OPTIMIZEROPTIONS_H
#define TITAN_COMPILER_SEMA_OPTIMIZEROPTIONS_H

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/runs/Options.h"

namespace titan::sema {

/// The specifications of the declared options, in order. A path is the name of the option. Reports
/// invalid declarations and leaves them out.
std::vector<OptionSpec> optionsOf(const Symbol &optimizer, const Library &library,
                                  DiagnosticEngine &diags);

} // namespace titan::sema

#endif
