// Reads the prompts of `generate --prompts FILE`.
#pragma once

#include <string>
#include <vector>

namespace titan::rt {

/// The prompts of a file, one per line: the text of a line, or the field `prompt` of a line's
/// object in FILE.jsonl. Blank lines of FILE.jsonl and at the end of a file are skipped. Other
/// blank lines are errors, because answers would not have the numbers of their lines. Throws
/// UserError with the file and the line.
std::vector<std::string> readPrompts(const std::string &path);

} // namespace titan::rt
