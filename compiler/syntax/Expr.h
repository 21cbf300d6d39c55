// Expressions. Tensors, compile-time numbers and values of settings use the same nodes; semantic
// analysis distinguishes them.
//
// Precedence, loosest first: `if c then a else b` (`match` ends in its own bracket); `or`; `and`;
// `not`; comparisons; `+ -`; `* / % @`; unary `-`; `**` (right-associative); postfix `f(...)`,
// `x[...]`, `a.b`. Grouping parentheses create no node.
#pragma once

#include "compiler/syntax/Node.h"

namespace titan::syntax {

enum class ExprKind {
  Int,
  Float,
  String,
  Bool,
  None,
  Name,
  Unary,
  Binary,
  If,
  Match,
  Call,
  Index,
  Typed,
  Tuple,
  List
};

struct Expr : CastMixin<Expr> {
  const ExprKind kind;
  Location loc;

  virtual ~Expr() = default;

protected:
  Expr(ExprKind kind, Location loc) : kind(kind), loc(loc) {}
};
using ExprPtr = std::unique_ptr<Expr>;

template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind Kind = K;
  explicit ExprOf(Location loc) : Expr(K, loc) {}
};

/// `128_000`. The parser refuses numbers beyond 64 bits.
struct IntExpr : ExprOf<ExprKind::Int> {
  using ExprOf::ExprOf;
  int64_t value = 0;
};

/// `0.02`, `1e-5`.
struct FloatExpr : ExprOf<ExprKind::Float> {
  using ExprOf::ExprOf;
  double value = 0;
};

/// `"corpus.txt"`; `value` is unescaped.
struct StringExpr : ExprOf<ExprKind::String> {
  using ExprOf::ExprOf;
  std::string value;
};

/// `true`, `false`.
struct BoolExpr : ExprOf<ExprKind::Bool> {
  using ExprOf::ExprOf;
  bool value = false;
};

/// `none`.
struct NoneExpr : ExprOf<ExprKind::None> {
  using ExprOf::ExprOf;
};

/// `x`, `model.layers`, and words such as `auto`, `causal`, `f32`, which are ordinary names.
struct NameExpr : ExprOf<ExprKind::Name> {
  using ExprOf::ExprOf;
  Path path;
};

enum class UnaryOp { Neg, Not };

struct UnaryExpr : ExprOf<ExprKind::Unary> {
  using ExprOf::ExprOf;
  UnaryOp op = UnaryOp::Neg;
  ExprPtr operand;
};

enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Contract, // `@`: sums over the dimensions of both operands that the declared result lacks
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or
};

struct BinaryExpr : ExprOf<ExprKind::Binary> {
  using ExprOf::ExprOf;
  BinaryOp op = BinaryOp::Add;
  Location opLoc;
  ExprPtr lhs;
  ExprPtr rhs;
};

/// `if cond then a else b`, selected at compile time.
struct IfExpr : ExprOf<ExprKind::If> {
  using ExprOf::ExprOf;
  ExprPtr cond;
  ExprPtr thenValue;
  ExprPtr elseValue;
};

/// `match kind { "full", "all" then a; _ then b }`: the first matching arm, selected at compile
/// time.
struct MatchExpr : ExprOf<ExprKind::Match> {
  using ExprOf::ExprOf;
  struct Arm {
    std::vector<ExprPtr> patterns; ///< none: `_`, which matches every subject
    ExprPtr value;
    Location loc;
  };
  ExprPtr subject;
  std::vector<Arm> arms;
};

enum class ArgKind {
  Positional, // x
  Keyword,    // mask = causal
  Over,       // over embed; over batch, seq; over h as (h, kh)
  Along,      // along seq
  With,       // with rotary_positions
};

/// The new names in `head as (pair, two)`, `(heads, head) as embed`, `b along rope as qk`.
struct DimBinding {
  std::vector<Path> from; // dimensions that exist; one, or several in parentheses
  std::vector<Name> to;   // new ones; empty without `as`
  bool toTuple = false;   // written `as (a, b)`
  Location loc;
};

/// One argument of a call. The members that are set, by kind and form:
///   `x`, `f(x) + 1`                  Positional, value
///   `mask = causal`                  Keyword, name, value
///   `over d`, `along seq`            Over/Along, dims
///   `with rotary_positions`          With, function
///   `a along nope as qk`             Positional, value, along
///   `head as (pair, two)`,
///   `(heads, head) as embed`         Positional, dims (value is null)
struct Arg {
  ArgKind kind = ArgKind::Positional;
  std::optional<Name> name;
  ExprPtr value; // may be null, see above
  std::optional<DimBinding> dims;
  std::optional<DimBinding> along; // the concatenated dimension of this operand
  Path function; // of `with`; semantic analysis replaces the argument by `name = name` for each
                 // parameter
  Location loc;
};

/// `attention(q, k, v, along seq, mask = causal)`. Calls a function, an op or a block.
struct CallExpr : ExprOf<ExprKind::Call> {
  using ExprOf::ExprOf;
  Path callee;
  std::vector<Arg> args;
};

enum class IndexKind {
  Take,   // vocab: tokens       rows by index, or one element by a number
  Slice,  // seq: 0..n as prefix a half-open range; a missing bound is that of the dimension
  Rename, // seq as keys
};

struct IndexItem {
  IndexKind kind = IndexKind::Take;
  Path dim;
  ExprPtr index; // Take
  ExprPtr lower; // Slice, may be null
  ExprPtr upper; // Slice, may be null
  std::optional<Name> rename;
  bool hides = false; // as new keys
  Location loc;
};

/// `table[vocab: tokens]`, `x[seq: 0..n as prefix]`, `k[seq as keys]`: by name, never by position.
struct IndexExpr : ExprOf<ExprKind::Index> {
  using ExprOf::ExprOf;
  ExprPtr base;
  std::vector<IndexItem> items;
};

/// `(h @ w1)[batch, seq, ffn]`: declares the dimensions of a value. A bracket of dimensions alone
/// is a TypedExpr, unless every item is a rename (then it is an IndexExpr).
struct TypedExpr : ExprOf<ExprKind::Typed> {
  using ExprOf::ExprOf;
  ExprPtr base;
  DimList dims;
};

/// `(0.9, 0.95)`, `(a,)`, `()`.
struct TupleExpr : ExprOf<ExprKind::Tuple> {
  using ExprOf::ExprOf;
  std::vector<ExprPtr> elements;
};

/// `[1, 2, 3]`.
struct ListExpr : ExprOf<ExprKind::List> {
  using ExprOf::ExprOf;
  std::vector<ExprPtr> elements;
};

} // namespace titan::syntax
