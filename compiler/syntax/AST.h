// The syntax tree of one file, and what makes and prints it. See Node.h for the conventions, and
// docs/language.md for the grammar with an example of each construct.
#ifndef TITAN_COMPILER_SYNTAX_AST_H
#define TITAN_COMPILER_SYNTAX_AST_H

#include "compiler/syntax/Decl.h"

#include <iosfwd>

namespace titan {
class DiagnosticEngine;
}

namespace titan::syntax {

struct Module {
  FileId file = FileId::none;
  std::vector<DeclPtr> decls; // in source order
};

/// Parses a buffer. Mistakes go to `diags`; parsing goes on after each, so that independent ones
/// are all reported, and the module then holds what could be understood. Never null.
std::unique_ptr<Module> parse(const SourceManager &sources, FileId file, DiagnosticEngine &diags);

/// Parses text as one expression, as `--set path=value` needs it. Null after an error.
ExprPtr parseExpr(const SourceManager &sources, FileId file, DiagnosticEngine &diags);

/// Prints the tree, one node a line, children indented; no locations, so that tests stay readable.
void dump(const Module &module, std::ostream &os);
void dump(const Expr &expr, std::ostream &os);

/// The operators as they are written, e.g. "@".
const char *spelling(BinaryOp op);
const char *spelling(UnaryOp op);

} // namespace titan::syntax

#endif
