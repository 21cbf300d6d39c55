// Statements of models, blocks and functions, and settings (`key = value`) of runs, specialisations
// and axes.
#pragma once

#include "compiler/syntax/Expr.h"

namespace titan::syntax {

/// One entry of a settings block; it nests. Forms:
///   `clip = 1.0`                              path, value
///   `model.layers = 2`                        path of two names, value
///   `optimizer = adamw { lr = 3e-4 }`         path, value, block
///   `schedule = { warmup = 20 }`,
///   `precision { params = f32 }`              path, block
///   `group "*norm*" { weight_decay = 0 }`     path, label, block
/// Entries are separated by new lines, `;` or `,`.
struct Setting {
  Path path;
  std::optional<Name> label; // the text without quotes
  ExprPtr value;             // may be null
  std::optional<std::vector<Setting>> block;
  Location loc;
};

enum class StmtKind {
  Dims,
  Param,
  Update,
  Loss,
  Metric,
  State,
  Option,
  Input,
  Output,
  Let,
  Assign,
  Return,
  Repeat,
  If,
  Precision
};

struct Stmt : CastMixin<Stmt> {
  const StmtKind kind;
  Location loc;

  virtual ~Stmt() = default;

protected:
  Stmt(StmtKind kind, Location loc) : kind(kind), loc(loc) {}
};
using StmtPtr = std::unique_ptr<Stmt>;

template <StmtKind K> struct StmtOf : Stmt {
  static constexpr StmtKind Kind = K;
  explicit StmtOf(Location loc) : Stmt(K, loc) {}
};

/// `{ ... }`.
struct Body {
  std::vector<StmtPtr> stmts;
  Location loc;
};

/// `dims kv_heads, group, ffn = 4 * embed`: without a size, a dimension of the enclosing model that
/// this block uses; with one, a new dimension of this block.
struct DimsStmt : StmtOf<StmtKind::Dims> {
  using StmtOf::StmtOf;
  struct Item {
    Name name;
    ExprPtr size; // may be null
    Location loc;
  };
  std::vector<Item> items;
};

enum class ParamInit {
  None,        // an error, which semantic analysis reports
  Value,       // = 1
  Initialiser, // ~ normal(0.02)
};

/// `param wq[embed, kv_heads, group, head] ~ normal(0.02)`, optionally `: f32[...]` for a dtype and
/// `{ key = value }` for options. `buffer mean[embed] = 0` is written the same way.
struct ParamStmt : StmtOf<StmtKind::Param> {
  using StmtOf::StmtOf;
  Name name;
  TypeSpec type; // dims absent: a scalar
  ParamInit init = ParamInit::None;
  ExprPtr initValue; // null exactly when init is None
  std::vector<Setting> options;
  bool isBuffer = false;
};

/// `update mean = 0.9 * mean + 0.1 * sample`: the next value of a buffer.
struct UpdateStmt : StmtOf<StmtKind::Update> {
  using StmtOf::StmtOf;
  Name name;
  ExprPtr value;
};

/// `loss balance = 0.01 * uneven`: a named term of the objective. Without a name it is an
/// assignment, since `loss` may be an ordinary name.
struct LossStmt : StmtOf<StmtKind::Loss> {
  using StmtOf::StmtOf;
  Name name;
  ExprPtr value;
};

/// `metric accuracy = mean(...)`: a number that evaluations report, without a gradient.
struct MetricStmt : StmtOf<StmtKind::Metric> {
  using StmtOf::StmtOf;
  Name name;
  ExprPtr value;
};

/// `state m`, `state rows[outputs]`: a tensor that an optimizer keeps for each parameter.
struct StateStmt : StmtOf<StmtKind::State> {
  using StmtOf::StmtOf;
  Name name;
  std::optional<DimList> dims; // absent: those of the parameter
};

/// `option eps = 1e-8 { least = 0 }`: an option of an optimizer, which runs set as `optimizer.eps`,
/// or of a schedule.
struct OptionStmt : StmtOf<StmtKind::Option> {
  using StmtOf::StmtOf;
  Name name;
  ExprPtr value;
  std::vector<Setting> limits;
};

/// `input tokens: int[batch, seq]`.
struct InputStmt : StmtOf<StmtKind::Input> {
  using StmtOf::StmtOf;
  Name name;
  TypeSpec type;
};

/// `output logits[batch, seq, vocab] = ...`, or `output logits` for a value that exists.
struct OutputStmt : StmtOf<StmtKind::Output> {
  using StmtOf::StmtOf;
  Name name;
  TypeSpec type;
  ExprPtr value; // may be null
};

/// `let q[batch, seq, heads, head] = h @ wq`, `let half = head / 2`, `let a, b[seq] = f(x)`.
struct LetStmt : StmtOf<StmtKind::Let> {
  using StmtOf::StmtOf;
  struct Target {
    Name name;
    TypeSpec type;
  };
  std::vector<Target> targets; // several: the results of one call, in order
  ExprPtr value;
};

/// `x = x + y`, `x, aux = Layer(x, l)`, and `loss = ...` (a special name, not a keyword).
struct AssignStmt : StmtOf<StmtKind::Assign> {
  using StmtOf::StmtOf;
  std::vector<Name> targets;
  ExprPtr value;
};

/// `return centred * scale`, `return q, k`: the results of a function that declares none.
struct ReturnStmt : StmtOf<StmtKind::Return> {
  using StmtOf::StmtOf;
  std::vector<ExprPtr> values; // at least one
};

/// `repeat layers as l { x = Layer(x, l) }`.
struct RepeatStmt : StmtOf<StmtKind::Repeat> {
  using StmtOf::StmtOf;
  ExprPtr count; // usually the name of a dimension
  std::optional<Name> index;
  Body body;
};

/// `if tied { ... } else if cond { ... } else { ... }`, selected at compile time.
struct IfStmt : StmtOf<StmtKind::If> {
  using StmtOf::StmtOf;
  struct Branch {
    ExprPtr cond;
    Body body;
  };
  std::vector<Branch> branches; // at least one
  std::optional<Body> elseBody;
};

/// `in f32 { ... }`: the statements compute in that element type.
struct PrecisionStmt : StmtOf<StmtKind::Precision> {
  using StmtOf::StmtOf;
  Name type;
  Body body;
};

} // namespace titan::syntax
