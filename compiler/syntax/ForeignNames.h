// Names of PyTorch, NumPy and JAX, and how what they mean is said here.
#ifndef TITAN_COMPILER_SYNTAX_FOREIGNNAMES_H
#define TITAN_COMPILER_SYNTAX_FOREIGNNAMES_H

#include <string>

namespace titan::syntax {

/// The help for a name of ForeignNames.def; empty for any other. `value` is what a method is called
/// on: it takes the place of `x`.
std::string foreignHelp(const std::string &name, const std::string &value = "x");

/// The help for an argument by name that `function` has elsewhere; empty where nothing is known.
std::string foreignArgumentHelp(const std::string &function, const std::string &argument);

} // namespace titan::syntax

#endif
