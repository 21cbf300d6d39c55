// Names that denote themselves in expressions unless a declaration defines them: `causal`, `f32`.
#ifndef TITAN_COMPILER_SEMA_SYMBOLICCONSTANTS_H
#define TITAN_COMPILER_SEMA_SYMBOLICCONSTANTS_H

#include <set>
#include <string>

namespace titan::sema {

const std::set<std::string> &symbolicConstants();

} // namespace titan::sema

#endif
