// Prints the tree for tests and for `--stop-after=parse`: one node a line, children indented by
// two.
#include "compiler/syntax/AST.h"

#include <ostream>

namespace titan::syntax {
namespace {

class Dumper {
public:
  explicit Dumper(std::ostream &os) : os(os) {}

  void decl(const Decl &decl);
  void expr(const Expr &expr);

private:
  /// Starts a line; what `rest` appends to follows on it.
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
  /// A child with a word that says what it is.
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

  void index(const IndexItem &item);
  void arg(const Arg &arg);
  void compound(const Expr &expr);
  void stmt(const Stmt &stmt);
  void param(const ParamStmt &stmt);
  void control(const Stmt &stmt);
  void settings(const std::vector<Setting> &all);
  void signature(const std::vector<Formal> &formals, const std::vector<Name> &results);
  void import(const ImportDecl &decl);
  void axis(const AxisDecl &axis);
  void train(const TrainDecl &decl);

  std::ostream &os;
  size_t depth = 0;
};

std::string join(const std::vector<Name> &names) {
  std::string out;
  for (const Name &name : names)
    out += (out.empty() ? "" : ", ") + name.text;
  return out;
}

std::string join(const std::vector<Path> &paths) {
  std::string out;
  for (const Path &path : paths)
    out += (out.empty() ? "" : ", ") + path.text();
  return out;
}

std::string text(const DimList &list) {
  std::string out;
  for (const DimRef &dim : list.dims) {
    out += (out.empty() ? "" : ", ") + dim.dim.text();
    if (dim.rename)
      out += " as " + dim.rename->text;
  }
  return "[" + out + "]";
}

/// ": int[batch]" with the parts that are there.
std::string text(const TypeSpec &type) {
  std::string out = type.isEmpty() ? "" : ": ";
  if (type.dtype)
    out += type.dtype->text;
  return type.dims ? out + text(*type.dims) : out;
}

std::string text(const DimBinding &binding) {
  std::string out = join(binding.from);
  if (binding.from.size() > 1)
    out = "(" + out + ")";
  if (binding.to.empty())
    return out;
  return out + " as " + (binding.toTuple ? "(" + join(binding.to) + ")" : join(binding.to));
}

/// With its escapes restored, so that a dump stays one line a node.
std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return out + "\"";
}

void Dumper::expr(const Expr &expr) {
  if (const auto *e = expr.as<IntExpr>())
    line("Int ") << e->value << '\n';
  else if (const auto *e = expr.as<FloatExpr>())
    line("Float ") << e->value << '\n';
  else if (const auto *e = expr.as<StringExpr>())
    line("String ") << quoted(e->value) << '\n';
  else if (const auto *e = expr.as<BoolExpr>())
    line("Bool ") << (e->value ? "true" : "false") << '\n';
  else if (const auto *e = expr.as<NameExpr>())
    line("Name ") << e->path.text() << '\n';
  else if (expr.is<NoneExpr>())
    line("None") << '\n';
  else
    compound(expr);
}

void Dumper::compound(const Expr &expr) {
  if (const auto *e = expr.as<UnaryExpr>()) {
    labelled((std::string("Unary ") + spelling(e->op)).c_str(), *e->operand);
  } else if (const auto *e = expr.as<BinaryExpr>()) {
    line("Binary ") << spelling(e->op) << '\n';
    nested([&] {
      this->expr(*e->lhs);
      this->expr(*e->rhs);
    });
  } else if (const auto *e = expr.as<IfExpr>()) {
    line("If") << '\n';
    nested([&] {
      this->expr(*e->cond);
      this->expr(*e->thenValue);
      this->expr(*e->elseValue);
    });
  } else if (const auto *e = expr.as<CallExpr>()) {
    line("Call ") << e->callee.text() << '\n';
    nested([&] {
      for (const Arg &one : e->args)
        arg(one);
    });
  } else if (const auto *e = expr.as<IndexExpr>()) {
    line("Index") << '\n';
    nested([&] {
      this->expr(*e->base);
      for (const IndexItem &item : e->items)
        index(item);
    });
  } else if (const auto *e = expr.as<TypedExpr>()) {
    labelled(("Typed " + text(e->dims)).c_str(), *e->base);
  } else if (const auto *e = expr.as<TupleExpr>()) {
    line("Tuple") << '\n';
    nested([&] { exprs(e->elements); });
  } else if (const auto *e = expr.as<ListExpr>()) {
    line("List") << '\n';
    nested([&] { exprs(e->elements); });
  }
}

void Dumper::index(const IndexItem &item) {
  std::string rename = item.rename ? " as " + item.rename->text : "";
  switch (item.kind) {
  case IndexKind::Take:
    return labelled(("take " + item.dim.text()).c_str(), *item.index);
  case IndexKind::Rename:
    line("rename ") << item.dim.text() << rename << '\n';
    return;
  case IndexKind::Slice:
    line("slice ") << item.dim.text() << rename << '\n';
    nested([&] {
      if (item.lower)
        labelled("from", *item.lower);
      if (item.upper)
        labelled("to", *item.upper);
    });
  }
}

void Dumper::arg(const Arg &arg) {
  switch (arg.kind) {
  case ArgKind::Keyword:
    return labelled((arg.name->text + " =").c_str(), *arg.value);
  case ArgKind::Over:
    line("over ") << text(*arg.dims) << '\n';
    return;
  case ArgKind::Along:
    line("along ") << text(*arg.dims) << '\n';
    return;
  case ArgKind::Positional:
    break;
  }
  if (arg.dims)
    line("dims ") << text(*arg.dims) << '\n';
  else if (arg.along)
    labelled(("along " + text(*arg.along) + ":").c_str(), *arg.value);
  else
    expr(*arg.value);
}

void Dumper::settings(const std::vector<Setting> &all) {
  for (const Setting &setting : all) {
    line("Setting ") << setting.path.text();
    if (setting.label)
      os << ' ' << quoted(setting.label->text);
    os << '\n';
    nested([&] {
      if (setting.value)
        expr(*setting.value);
      if (setting.block)
        settings(*setting.block);
    });
  }
}

void Dumper::stmt(const Stmt &stmt) {
  if (const auto *s = stmt.as<DimsStmt>()) {
    line("Dims") << '\n';
    nested([&] {
      for (const DimsStmt::Item &item : s->items)
        item.size ? labelled((item.name.text + " =").c_str(), *item.size)
                  : void(line("") << item.name.text << '\n');
    });
  } else if (const auto *s = stmt.as<ParamStmt>()) {
    param(*s);
  } else if (const auto *s = stmt.as<InputStmt>()) {
    line("Input ") << s->name.text << text(s->type) << '\n';
  } else if (const auto *s = stmt.as<OutputStmt>()) {
    line("Output ") << s->name.text << text(s->type) << '\n';
    if (s->value)
      nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<LetStmt>()) {
    line("Let ");
    for (const LetStmt::Target &target : s->targets)
      os << (&target == s->targets.data() ? "" : ", ") << target.name.text << text(target.type);
    os << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<AssignStmt>()) {
    line("Assign ") << join(s->targets) << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<ReturnStmt>()) {
    line("Return") << '\n';
    nested([&] { exprs(s->values); });
  } else {
    control(stmt);
  }
}

void Dumper::param(const ParamStmt &stmt) {
  const char *init = stmt.init == ParamInit::Value         ? " ="
                     : stmt.init == ParamInit::Initialiser ? " ~"
                                                           : "";
  line("Param ") << stmt.name.text << text(stmt.type) << init << '\n';
  nested([&] {
    if (stmt.initValue)
      expr(*stmt.initValue);
    settings(stmt.options);
  });
}

void Dumper::control(const Stmt &stmt) {
  if (const auto *s = stmt.as<RepeatStmt>()) {
    line("Repeat") << (s->index ? " as " + s->index->text : "") << '\n';
    nested([&] {
      labelled("count", *s->count);
      body(s->body);
    });
  } else if (const auto *s = stmt.as<IfStmt>()) {
    for (const IfStmt::Branch &branch : s->branches) {
      line(&branch == s->branches.data() ? "If" : "ElseIf") << '\n';
      nested([&] {
        labelled("cond", *branch.cond);
        body(branch.body);
      });
    }
    if (s->elseBody) {
      line("Else") << '\n';
      nested([&] { body(*s->elseBody); });
    }
  }
}

void Dumper::signature(const std::vector<Formal> &formals, const std::vector<Name> &results) {
  for (const Formal &formal : formals) {
    line("Formal ") << (formal.kind == FormalKind::Over    ? "over "
                        : formal.kind == FormalKind::Along ? "along "
                                                           : "")
                    << formal.name.text << text(formal.type) << '\n';
    if (formal.defaultValue)
      nested([&] { expr(*formal.defaultValue); });
  }
  if (!results.empty())
    line("Results ") << join(results) << '\n';
}

void Dumper::import(const ImportDecl &decl) {
  for (const ImportDecl::Item &item : decl.items)
    line("Import ") << (item.file ? quoted(item.file->text) : item.path.text())
                    << (item.alias ? " as " + item.alias->text : "") << '\n';
}

void Dumper::axis(const AxisDecl &axis) {
  line("Axis ") << axis.name.text << '\n';
  nested([&] {
    expr(*axis.degree);
    if (!axis.splits.empty())
      line("splits ") << join(axis.splits) << '\n';
    if (!axis.elseSplits.empty())
      line("else ") << join(axis.elseSplits) << '\n';
    if (!axis.stores.empty())
      line("stores ") << join(axis.stores) << '\n';
    settings(axis.options);
  });
}

void Dumper::train(const TrainDecl &decl) {
  line("Train ") << decl.name.text << " = " << decl.base.text()
                 << (decl.parallel ? " on " + decl.parallel->text() : "")
                 << (decl.derived ? " with" : "") << '\n';
  nested([&] { settings(decl.settings); });
}

void Dumper::decl(const Decl &decl) {
  if (const auto *d = decl.as<ImportDecl>()) {
    import(*d);
  } else if (const auto *d = decl.as<ModelDecl>()) {
    line("Model ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, {});
      body(d->body);
    });
  } else if (const auto *d = decl.as<ModelAliasDecl>()) {
    line("Model ") << d->name.text << " = " << d->base.text() << '\n';
    nested([&] { settings(d->settings); });
  } else if (const auto *d = decl.as<BlockDecl>()) {
    line("Block ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, d->results);
      body(d->body);
    });
  } else if (const auto *d = decl.as<FnDecl>()) {
    line("Fn ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, d->results);
      if (d->value)
        labelled("value", *d->value);
      if (d->body)
        body(*d->body);
    });
  } else if (const auto *d = decl.as<ParallelDecl>()) {
    line("Parallel ") << d->name.text << '\n';
    nested([&] {
      for (const AxisDecl &one : d->axes)
        axis(one);
    });
  } else if (const auto *d = decl.as<TrainDecl>()) {
    train(*d);
  }
}

} // namespace

std::string Path::text() const {
  std::string out;
  for (const Name &part : parts)
    out += (out.empty() ? "" : ".") + part.text;
  return out;
}

const char *spelling(BinaryOp op) {
  static const char *const spellings[] = {
      "+", "-", "*", "/", "%", "**", "@", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return spellings[static_cast<size_t>(op)];
}

const char *spelling(UnaryOp op) {
  return op == UnaryOp::Neg ? "-" : "not";
}

void dump(const Module &module, std::ostream &os) {
  Dumper dumper(os);
  for (const DeclPtr &decl : module.decls)
    dumper.decl(*decl);
}

void dump(const Expr &expr, std::ostream &os) {
  Dumper(os).expr(expr);
}

} // namespace titan::syntax
