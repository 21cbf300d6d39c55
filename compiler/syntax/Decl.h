// Declarations: the entries of a file.
#pragma once

#include "compiler/syntax/Stmt.h"

namespace titan::syntax {

enum class DeclKind {
  Import,
  Model,
  ModelAlias,
  Block,
  Fn,
  Optimizer,
  Schedule,
  Data,
  Parallel,
  Train,
  Weights,
  Config
};

struct Decl : CastMixin<Decl> {
  const DeclKind kind;
  Location loc;

  virtual ~Decl() = default;

protected:
  Decl(DeclKind kind, Location loc) : kind(kind), loc(loc) {}
};
using DeclPtr = std::unique_ptr<Decl>;

template <DeclKind K> struct DeclOf : Decl {
  static constexpr DeclKind Kind = K;
  explicit DeclOf(Location loc) : Decl(K, loc) {}
};

/// `import std.attention, std.rotary as rot, "layers.titan"`.
struct ImportDecl : DeclOf<DeclKind::Import> {
  using DeclOf::DeclOf;
  struct Item {
    Path path;                // std.attention; no segments if `file` is set
    std::optional<Name> file; // "layers.titan", relative to the importing file
    std::optional<Name> alias;
    Location loc;
  };
  std::vector<Item> items;
};

enum class FormalKind {
  Value, // x, x[batch, seq, embed], ids: int[batch], eps = 1e-5
  Over,  // over d: a dimension that the caller names by `over`
  Along, // along s
  With,  // with rotary_positions: the parameters with defaults of a function
};

/// A formal parameter of a model, block or function.
struct Formal {
  FormalKind kind = FormalKind::Value;
  Name name;
  Path function; // of `with`; semantic analysis replaces such a formal by the function's
  TypeSpec type;
  ExprPtr defaultValue; // may be null
  Location loc;
};

/// `model Tiny(layers, embed, ffn = 4 * embed) { ... }`.
struct ModelDecl : DeclOf<DeclKind::Model> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<Formal> formals;
  Body body;
};

/// `model Tiny_2L = Tiny { layers = 32, embed = 4096 }`.
struct ModelAliasDecl : DeclOf<DeclKind::ModelAlias> {
  using DeclOf::DeclOf;
  Name name;
  Path base;
  std::vector<Setting> settings;
};

/// `block Layer(x[batch, seq, embed], l) -> x { ... }`. The body defines the results.
struct BlockDecl : DeclOf<DeclKind::Block> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<Formal> formals;
  std::vector<Name> results;
  Body body;
};

/// `fn rms_norm(x, w, over d, eps = 1e-5) = ...`, or with a body that defines the results after
/// `->`, as in a block, or ends in `return`.
struct FnDecl : DeclOf<DeclKind::Fn> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<Formal> formals;
  ExprPtr value;             // null when there is a body
  std::vector<Name> results; // with a body; empty when it returns
  std::optional<Body> body;
};

/// `optimizer sgd(p, g, lr) { ... return p - lr * g }`: the next value of a parameter, from its
/// value, its gradient, the learning rate, the number of the step, and the states of the body.
struct OptimizerDecl : DeclOf<DeclKind::Optimizer> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<Formal> formals;
  Body body;
  bool isDefault = false; // `default optimizer`: for runs that name no optimizer
};

/// `schedule cosine(step, steps) { ... return factor }`: the factor of the learning rate, from the
/// number of the step and the number of all steps.
struct ScheduleDecl : DeclOf<DeclKind::Schedule> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<Formal> formals;
  Body body;
  bool isDefault = false;
};

/// `default data { samples = image, positions = row }`: the dimensions of samples and of positions
/// in the data of the file's models, for runs that name no others.
struct DataDecl : DeclOf<DeclKind::Data> {
  using DeclOf::DeclOf;
  Name name; // `data`
  std::vector<Setting> settings;
};

/// What an axis shards and stores: `splits kv_heads, ffn, else seq stores params, grads`. Each list
/// may be absent; `none` is an empty list.
struct AxisUse {
  std::optional<std::vector<Path>> splits;
  std::vector<Path> fallbackSplits;        // after `else`: for tensors without the other dimensions
  std::optional<std::vector<Name>> stores; // params, grads, optimizer
};

/// One axis of a mesh: `tp = 8 splits ffn { ... }`.
struct AxisDecl {
  Name name;
  ExprPtr degree; // a number, the name `auto`, or a tuple of the names of other axes
  AxisUse use;
  std::vector<Setting> options;
  Location loc;
};

/// The nodes of the machine: `nodes = 4 of 8 { memory = 80 }`, eight ranks on each.
struct NodesDecl {
  Name name; // `nodes`; semantic analysis reports any other name
  ExprPtr count, ranksPerNode;
  std::vector<Setting> options;
  Location loc;
};

/// Overrides of axes for single tensors: `parameters "*norm" { shard stores none }`.
struct OverrideDecl {
  Name kind; // parameters, values
  Name pattern;
  struct Line {
    Name axis;
    AxisUse use;
    Location loc;
  };
  std::vector<Line> lines;
};

/// `parallel pod { ... }`, axes from the outermost to the innermost.
struct ParallelDecl : DeclOf<DeclKind::Parallel> {
  using DeclOf::DeclOf;
  Name name;
  std::vector<AxisDecl> axes;
  std::vector<NodesDecl> nodes; // semantic analysis reports more than one
  std::vector<OverrideDecl> overrides;
};

/// `train pretrain = Tiny on pod { ... }` or `train debug = pretrain with { ... }`.
struct TrainDecl : DeclOf<DeclKind::Train> {
  using DeclOf::DeclOf;
  Name name;
  Path base;                    // a model, or a run when `derived`
  bool derived = false;         // written `with`
  std::optional<Path> parallel; // may be given with a derived run too
  std::vector<Setting> settings;
};

/// `weights "hf" for Llama { ... }`: how other software names and lays out the parameters of a
/// model.
struct WeightsDecl : DeclOf<DeclKind::Weights> {
  using DeclOf::DeclOf;

  /// One factor of a stored dimension: a dimension of a parameter; `value of plain + value from
  /// plain`: the dimension `value` at the indices from `plain` of an extent `plain + value`;
  /// `0 of 2`: index 0 of an extent of 2.
  struct Factor {
    Path dim;       // no segments: an index
    ExprPtr extent; // null: that of the dimension
    ExprPtr from;   // the index, or the first index of the dimension; null: 0
    Location loc;
  };
  /// One stored dimension: its factors from the outermost, and their first index in the dimension.
  struct Dim {
    std::vector<Factor> factors;
    ExprPtr from; // null: 0
    Location loc;
  };
  /// `layers.wq = "model.layers.{layers}.q.weight"[(heads, head), embed]`.
  struct Entry {
    Path parameter;
    Name tensor;
    std::optional<std::vector<Dim>> dims; // absent: those of the parameter
    Location loc;
  };
  /// `teacher = Llama under "encoder."`: the parameters of the component `teacher` have the entries
  /// of the declaration for the model `Llama`; the names of their tensors begin with "encoder.".
  struct Component {
    Path parameters, model;
    std::optional<Name> tensors; // absent: the path of the component is the prefix
    Location loc;
  };
  /// `copy "lm_head.weight" = "model.embed_tokens.weight"`: a tensor that equals another.
  struct Copy {
    Name tensor, original;
  };
  /// `split head as (pair, half = 2)`: one factor may have no size; it follows from the
  /// others.
  struct Split {
    Path dim;
    std::vector<DimsStmt::Item> factors;
    Location loc;
  };

  /// `merge layers.wq = layers.wq + layers.a @ layers.b`: the value that files have for a
  /// parameter.
  struct Merge {
    Path parameter;
    ExprPtr value;
    Location loc;
  };

  Name format; // "hf"
  Path model;
  std::optional<Path> base; // whose declaration this one extends
  std::vector<Entry> entries;
  std::vector<Component> components;
  std::vector<Copy> copies;
  std::vector<Name> unused; // patterns of tensors that the model does not need
  std::vector<Split> splits;
  std::vector<Merge> merges;
};

/// One line of a `config` body. Keys are names of members of the configuration, by dots within
/// objects, and relative to the object of an enclosing `optional`.
struct ConfigEntry {
  enum class Kind {
    Equation, // rope_theta or rope_parameters.rope_theta = theta default 10000
    Optional, // optional rope_scaling unless rope_type == "default" { ... }
    Ignore,   // ignore use_cache, torch_dtype; ignore window unless use_window == true
    Training, // training answers, packed
  };
  Kind kind = Kind::Equation;
  std::vector<Path> keys;        // alternatives; Ignore: ignored keys; Training: arguments
  std::optional<Name> index;     // `l` of `layer_types[layers as l] = ...`
  ExprPtr count;                 // `layers` in that example; null without an index
  ExprPtr value;                 // of an equation
  ExprPtr fallback;              // after `default`; may be null
  bool nullIsNone = false;       // `default 4096 unless none`: null is `none`, not the default
  std::optional<Path> absentKey; // `rope_type` of `unless rope_type == "default"`; of Ignore, too
  ExprPtr absentValue;           // "default" in that example
  std::vector<ConfigEntry> members; // of Optional
  Location loc;
};

/// `config "LlamaForCausalLM" for Llama with common { ... }`: how the configuration of other
/// software gives the arguments of a model; or `config common { ... }`, entries that such
/// declarations share.
struct ConfigDecl : DeclOf<DeclKind::Config> {
  using DeclOf::DeclOf;
  Name name;                 // the architecture, without quotes, or the name of a section
  std::optional<Path> model; // absent in a section
  /// `text_config` of `for Gemma3 in text_config`: an entry of Kind::Optional for the object that
  /// the sections describe; its own entries then describe the whole configuration.
  std::optional<ConfigEntry> object;
  std::vector<Path> sections;
  std::vector<ConfigEntry> entries;
};

} // namespace titan::syntax
