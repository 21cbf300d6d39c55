// Text in aligned columns.
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace titan::driver {

/// Each column has the width of its widest cell; two spaces precede every column.
class TextTable {
public:
  enum class Side { Left, Right };

  /// The alignment of each column.
  explicit TextTable(std::vector<Side> sides) : sides(std::move(sides)) {}

  /// Adds a line with one cell per column.
  void add(std::vector<std::string> cells) { lines.push_back(std::move(cells)); }

  void print(llvm::raw_ostream &out) const;

private:
  std::vector<size_t> widths() const;

  std::vector<Side> sides;
  std::vector<std::vector<std::string>> lines;
};

} // namespace titan::driver
