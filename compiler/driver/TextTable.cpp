#include "compiler/driver/TextTable.h"

#include <algorithm>

namespace titan::driver {

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> widths(sides.size());
  for (const std::vector<std::string> &cells : lines)
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], cells[i].size());
  return widths;
}

void TextTable::print(llvm::raw_ostream &out) const {
  const std::vector<size_t> widths = this->widths();
  for (const std::vector<std::string> &cells : lines) {
    size_t pendingSpaces = 0; // of the previous cell, so that no line ends in spaces
    for (size_t i = 0; i < widths.size(); ++i) {
      size_t space = widths[i] - cells[i].size();
      out.indent(2 + pendingSpaces + (sides[i] == Side::Right ? space : 0)) << cells[i];
      pendingSpaces = sides[i] == Side::Left ? space : 0;
    }
    out << '\n';
  }
}

} // namespace titan::driver
