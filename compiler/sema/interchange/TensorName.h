// Names of stored tensors with indices in braces: `model.layers.{layers + 3}.wq.weight`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titan::sema {

/// `{name + offset}`: the offset is an integer or the name of one; empty: 0.
struct NameIndex {
  std::string name, offset;
};

/// `literals[0] {indices[0]} literals[1] ...`: one literal more than indices.
struct TensorName {
  std::vector<std::string> literals;
  std::vector<NameIndex> indices;
};

/// Empty if a brace is not closed or contains something else.
std::optional<TensorName> parseTensorName(std::string_view text);

} // namespace titan::sema
