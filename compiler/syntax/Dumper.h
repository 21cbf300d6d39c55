// The implementation of dump(), only for Dump.cpp and DumpExpr.cpp.
#pragma once

#include "compiler/syntax/AST.h"

#include <ostream>

namespace titan::syntax::detail {

std::string join(const std::vector<Name> &names);
std::string join(const std::vector<Path> &paths);
/// ": int[batch]" with the present components.
std::string text(const TypeSpec &type);
std::string text(const DimList &list);
/// Quoted and with escapes, so that a node is one line.
std::string quoted(const std::string &text);

/// Prints nodes with their children. Each member function is named after the node that it prints.
class Dumper {
public:
  explicit Dumper(std::ostream &os) : os(os) {}

  void decl(const Decl &decl);
  void expr(const Expr &expr);

private:
  /// Starts a line, which the result continues.
  std::ostream &line(const char *node) {
    for (size_t i = 0; i < depth; ++i)
      os << "  ";
    return os << node;
  }
  /// Prints children one level deeper.
  template <typename Children> void nested(Children children) {
    ++depth;
    children();
    --depth;
  }
  /// A child with a label.
  void labelled(const char *label, const Expr &child) {
    line(label) << '\n';
    nested([&] { expr(child); });
  }
  void exprs(const std::vector<ExprPtr> &all) {
    for (const ExprPtr &one : all)
      expr(*one);
  }
  void body(const Body &body) {
    for (const StmtPtr &one : body.stmts)
      stmt(*one);
  }

  void config(const ConfigDecl &decl);
  void entries(const std::vector<ConfigEntry> &all);
  void equation(const ConfigEntry &entry);

  template <typename Decl> void optimizerOrSchedule(const Decl &decl, const char *kind) {
    line(kind) << decl.name.text << (decl.isDefault ? " default" : "") << '\n';
    nested([&] {
      signature(decl.formals, {});
      body(decl.body);
    });
  }

  void dimsItem(const DimsStmt::Item &item) {
    item.size ? labelled((item.name.text + " =").c_str(), *item.size)
              : void(line("") << item.name.text << '\n');
  }
  void index(const IndexItem &item);
  void arg(const Arg &arg);
  void compoundExpr(const Expr &expr);
  void stmt(const Stmt &stmt);
  void param(const ParamStmt &stmt);
  void compoundStmt(const Stmt &stmt);
  void settings(const std::vector<Setting> &all);
  void signature(const std::vector<Formal> &formals, const std::vector<Name> &results);
  void import(const ImportDecl &decl);
  void axis(const AxisDecl &axis);
  void nodes(const NodesDecl &nodes);
  void use(const AxisUse &use);
  void overrides(const OverrideDecl &decl);
  void train(const TrainDecl &decl);
  void weights(const WeightsDecl &decl);
  void weightsEntry(const WeightsDecl::Entry &entry);

  std::ostream &os;
  size_t depth = 0;
};

} // namespace titan::syntax::detail
