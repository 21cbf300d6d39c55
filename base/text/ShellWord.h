// Words of commands in messages.
#pragma once

#include <string>

namespace titan {

/// The word as the shell reads it: quoted if it has other characters than letters, digits and
/// `_-+.,=/`.
std::string forShell(const std::string &word);

} // namespace titan
