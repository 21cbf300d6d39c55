// Dumps expressions, and prints names, types and operators.
#include "compiler/syntax/Dumper.h"

namespace titan::syntax {
namespace detail {

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
      out += (dim.hides ? " as new " : " as ") + dim.rename->text;
  }
  return "[" + out + "]";
}

std::string text(const TypeSpec &type) {
  std::string out = type.isEmpty() ? "" : ": ";
  if (type.dtype)
    out += type.dtype->text;
  return type.dims ? out + text(*type.dims) : out;
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return out + "\"";
}

namespace {

std::string text(const DimBinding &binding) {
  std::string out = join(binding.from);
  if (binding.from.size() > 1)
    out = "(" + out + ")";
  if (binding.to.empty())
    return out;
  return out + " as " + (binding.toTuple ? "(" + join(binding.to) + ")" : join(binding.to));
}

} // namespace

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
    compoundExpr(expr);
}

void Dumper::compoundExpr(const Expr &expr) {
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
  } else if (const auto *e = expr.as<MatchExpr>()) {
    line("Match") << '\n';
    nested([&] {
      this->expr(*e->subject);
      for (const MatchExpr::Arm &arm : e->arms) {
        line(arm.patterns.empty() ? "Any" : "Arm") << '\n';
        nested([&] {
          for (const ExprPtr &pattern : arm.patterns)
            this->expr(*pattern);
          labelled("then", *arm.value);
        });
      }
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
  std::string rename = item.rename ? (item.hides ? " as new " : " as ") + item.rename->text : "";
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
  case ArgKind::With:
    line("with ") << arg.function.text() << '\n';
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

} // namespace detail

std::string Path::text() const {
  std::string out;
  for (const Name &segment : segments)
    out += (out.empty() ? "" : ".") + segment.text;
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

} // namespace titan::syntax
