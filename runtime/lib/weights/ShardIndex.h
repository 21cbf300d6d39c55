// The index of weights over several files, as other software writes it:
//   {"metadata": {...}, "weight_map": {"layers.0.w": "model-00001-of-00002.safetensors", ...}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace titan::rt {

/// The names of the files that an index lists, sorted, each once. They are untrusted: anything but
/// the name of a file beside the index is an error. Errors: UserError "PATH: reason".
std::vector<std::string> listShardFiles(std::string_view text, const std::string &path);

} // namespace titan::rt
