// What a run was trained on: its data, its tokenizer and what was inserted into its program. A
// checkpoint records it, so that a run does not resume on something else without a word. Plain
// data.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

struct Identity {
  /// An input: a name that does not depend on the machine, "data.path (*.bin)"; the path that the
  /// user named, only for messages; and the content in one line (files/FileDigest.h).
  struct Input {
    std::string name, path, digest;
    bool operator==(const Input &) const = default;
  };
  std::vector<Input> data;
  std::vector<Input> tokenizer; ///< its files; empty: unknown, or none
  /// Plugins and passes that the user inserted into the program; no value: unknown.
  std::optional<std::vector<Input>> passes = {};

  /// Bounds the texts of an input, which become words of a manifest: valid UTF-8 without control
  /// characters.
  static Input makeInput(std::string name, const std::string &path, std::string digest);
};

/// "data.path: 'a.txt' (9 bytes, ...) then, 'b.txt' (8 bytes, ...) now; ...": the inputs that
/// differ in their content or that only one list has; empty if there are none. `then` is what a
/// checkpoint records.
std::string describeChanges(const std::vector<Identity::Input> &then,
                            const std::vector<Identity::Input> &now);

} // namespace titan::rt
