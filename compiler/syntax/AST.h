// The syntax tree of one file, with its parser and printer. Node.h describes the conventions;
// docs/language.md shows every construct with an example.
#pragma once

#include "compiler/syntax/Decl.h"

#include <iosfwd>

namespace titan {
class DiagnosticEngine;
}

namespace titan::syntax {

struct Module {
  FileId file = FileId::none;
  std::vector<DeclPtr> decls; // in source order
  /// The calls with an argument `with f`, inside of `decls`.
  std::vector<CallExpr *> passingCalls;
};

/// Parses a buffer. Errors go to `diags`; the parser recovers after each, so independent errors are
/// reported together. The module holds the valid declarations. Never null.
std::unique_ptr<Module> parse(const SourceManager &sources, FileId file, DiagnosticEngine &diags);

/// Parses text as one expression, as `--set path=value` needs it. Null after an error.
ExprPtr parseExpr(const SourceManager &sources, FileId file, DiagnosticEngine &diags);

/// Prints the tree, one node per line with indented children, without locations.
void dump(const Module &module, std::ostream &os);
void dump(const Expr &expr, std::ostream &os);

/// The source spelling of an operator, e.g. "@".
const char *spelling(BinaryOp op);
const char *spelling(UnaryOp op);

} // namespace titan::syntax
