// Indented lines of source.
//
// Collects emitted source, with two spaces per level. The text is held in memory, because the
// declarations of a function are known only after its body.
#pragma once

#include "llvm/ADT/Twine.h"

#include <string>

namespace titan::emission {

class Writer {
public:
  explicit Writer(int level = 0) : level(level) {}

  void line(const llvm::Twine &content) {
    text += std::string(2 * level, ' ') + content.str() + "\n";
  }
  void blank() { text += "\n"; }
  /// Appends text unchanged: without indentation or a line end.
  void raw(const llvm::Twine &content) { text += content.str(); }
  /// Writes `content {` and indents; `close` ends it.
  void open(const llvm::Twine &content) {
    line(content + " {");
    ++level;
  }
  void close(const llvm::Twine &after = "") {
    --level;
    line("}" + after);
  }
  void indent() { ++level; }
  void unindent() { --level; }
  int getLevel() const { return level; }
  const std::string &str() const { return text; }
  bool empty() const { return text.empty(); }

private:
  std::string text;
  int level;
};

} // namespace titan::emission
