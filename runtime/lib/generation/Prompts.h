// The prompts of a file.
#pragma once

#include <string>
#include <vector>

namespace titan::rt {

/// The prompts of the lines of a file: the text of a line, or of FILE.jsonl the field `prompt` of
/// its object. Blank lines of FILE.jsonl, and at the end of a file, count as none; others are
/// errors, because answers would not have the numbers of the lines. Throws UserError with the file
/// and the line.
std::vector<std::string> readPrompts(const std::string &path);

} // namespace titan::rt
