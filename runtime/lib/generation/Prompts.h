// The prompts of a file.
#pragma once

#include <string>
#include <vector>

namespace titan::rt {

/// The prompts of the lines of a file: the text of a line, or of FILE.jsonl the field `prompt` of
/// its object. Empty lines count as none. Throws UserError with the file and the line.
std::vector<std::string> readPrompts(const std::string &path);

} // namespace titan::rt
