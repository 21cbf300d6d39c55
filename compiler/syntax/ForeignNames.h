// Names of PyTorch, NumPy and JAX with their Titan equivalents.
#pragma once

#include <string>

namespace titan::syntax {

/// The help for a name of ForeignNames.def; empty for other names. `value` is the receiver of a
/// method and replaces `x`.
std::string foreignHelp(const std::string &name, const std::string &value = "x");

/// The help for a keyword argument of `function` in other libraries; empty if unknown.
std::string foreignArgumentHelp(const std::string &function, const std::string &argument);

} // namespace titan::syntax
