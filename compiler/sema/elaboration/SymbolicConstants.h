// Names that denote themselves, or `infinity` a number, unless a declaration defines them:
// `causal`, `f32`.
#pragma once

#include <set>
#include <string>

namespace titan::sema {

const std::set<std::string> &symbolicConstants();

} // namespace titan::sema
