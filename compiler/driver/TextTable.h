// Cells in columns, for what titanc prints to be read.
#ifndef TITAN_COMPILER_DRIVER_TEXTTABLE_H
#define TITAN_COMPILER_DRIVER_TEXTTABLE_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace titan::driver {

/// Each column is as wide as its widest cell; two spaces stand before every column.
class TextTable {
public:
  enum class Side { Left, Right };

  /// The side on which each column's cells are flush.
  explicit TextTable(std::vector<Side> sides) : sides(std::move(sides)) {}

  /// One line, with a cell for every column.
  void add(std::vector<std::string> cells) { lines.push_back(std::move(cells)); }

  void print(llvm::raw_ostream &out) const;

private:
  std::vector<size_t> widths() const;

  std::vector<Side> sides;
  std::vector<std::vector<std::string>> lines;
};

} // namespace titan::driver

#endif
