// A folder for files that a program believes on its next start, such as a cache in /tmp. Whoever
// else may write there decides what the program reads.
#pragma once

#include <filesystem>

namespace titan::rt {

/// Makes the folder, with those above it, unless it exists, and takes the permission to write from
/// everybody else. Throws UserError if it is a link or belongs to another user.
void makePrivateFolder(const std::filesystem::path &folder);

} // namespace titan::rt
