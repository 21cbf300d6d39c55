// Helpers of the syntax tests: they parse a text, and return the tree, its dump or its diagnostics.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Format.h"

#include <sstream>

namespace titan::syntax {

/// A parsed text, with its diagnostics and its tree as text.
struct Parsed {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  FileId file;
  std::unique_ptr<Module> module;

  explicit Parsed(std::string text, std::string name = "t.titan") {
    file = sources.addBuffer(std::move(name), std::move(text));
    module = parse(sources, file, diags);
  }

  std::string errors() const {
    std::ostringstream os;
    diags.print(os, ColorMode::Never);
    return os.str();
  }
  std::string tree() const {
    std::ostringstream os;
    dump(*module, os);
    return os.str();
  }
};

/// The dump of one expression on one line, `(node child ...)`, or its diagnostics.
inline std::string parseAndDump(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  ExprPtr expr = parseExpr(sources, sources.addBuffer("e", text), diags);
  std::ostringstream os;
  if (!expr) {
    diags.print(os, ColorMode::Never);
    return os.str();
  }
  dump(*expr, os);
  std::string line, out;
  std::istringstream in(os.str());
  size_t open = 0;
  auto closeTo = [&](size_t level) {
    for (; open > level; --open)
      out += ')';
  };
  while (std::getline(in, line)) {
    size_t level = line.find_first_not_of(' ') / 2;
    closeTo(level);
    out += (out.empty() ? "(" : " (") + line.substr(2 * level);
    ++open;
  }
  closeTo(0);
  return out;
}

inline std::string formatted(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  return format(sources, sources.addBuffer("t.titan", text), diags).value_or("<errors>");
}

} // namespace titan::syntax
