// The checked program: what semantic analysis hands to lowering. Models are specialised, functions
// and blocks inlined, every name resolved, every type known; only `repeat` is kept as structure.
// Plain data without pointers into the syntax tree, so it can be printed, compared and tested.
//
// Sizes are elements. Every value and op has the place in the source that it came from, and the
// name of the variable that it was computed for.
#ifndef TITAN_COMPILER_SEMA_PROGRAM_H
#define TITAN_COMPILER_SEMA_PROGRAM_H

#include "compiler/diagnostics/SourceManager.h"
#include "compiler/sema/program/Dims.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::sema {

enum class DType { F32, F64, BF16, I64, Bool };
const char *spelling(DType dtype);
bool isFloat(DType dtype);
/// Of two floating-point types the one with more bits.
DType wider(DType a, DType b);
/// The floating-point type of this spelling, if any.
std::optional<DType> floatCalled(const std::string &spelling);

struct TensorType {
  DType dtype = DType::F32;
  DimSet dims;
  bool operator==(const TensorType &) const = default;
};

/// Values are numbered over the whole program, those inside `repeat` bodies included.
using ValueId = uint32_t;

struct ValueInfo {
  TensorType type;
  std::string name; ///< of the source variable, or of the one it helps to compute; never empty
  Location loc;
};

enum class OpKind {
  Parameter,    // -> the parameter `index`
  Update,       // the operand is what the parameter `index`, a buffer, is from the next step on
  Input,        // -> the input `index`
  Constant,     // -> scalar `number`
  Elementwise,  // `word` names the function; operands join by name
  Contract,     // sums what both operands have and the result lacks
  Reduce,       // `word` is sum, max or min; over `dims`
  Gather,       // base, index; along dims[0]
  Iota,         // -> int[dims[0]], the global index along it
  Cast,         // to the result's dtype
  Rename,       // dims[0] is called dims[1] in the result
  Slice,        // dims[0] from `index` on, called dims[1] in the result
  Pad,          // dims[0] lies from `index` on in dims[1] of the result, the rest is 0
  Split,        // dims[0] becomes several, in the result's order
  Merge,        // several become dims[0] of the result
  Expand,       // the result has dims[...] besides; the values repeat along them
  StopGradient, // the operand; no gradient flows
  ShardingConstraint, // the operand, whose dimensions were declared: the parallel map binds it
  Rotary,             // over dims[0], along dims[1]; theta in `number`, or radians a position of
                      // each pair in `numbers`; `word` is interleaved or half
  Attention, // q, k, v, perhaps documents -> result, log-sum-exp; over dims[0], along dims[1];
             // scale in `number`; `word` is causal or full; window in `index` (0: none); bound of
             // the scores in `numbers`, if there is one
  TopK,      // -> values, indices; along dims[0], called dims[1] in the results
  Cumulate,  // sums along dims[0]; `word` is forward or reverse
  Scatter,   // updates, index -> sums along dims[0]
  Random,    // `word` is uniform or normal
  Dropout,   // the operand; in training, elements are 0 with the probability `number`
  Repeat     // dims[0] times; operands and results are what is carried
};

struct Op;

/// A body: what it takes, does and hands on.
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
  std::vector<ValueId> yields;
};

struct Op {
  explicit Op(OpKind kind, std::vector<ValueId> operands = {})
      : kind(kind), operands(std::move(operands)) {}

  OpKind kind;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<DimId> dims;
  std::string word;
  double number = 0;
  std::vector<double> numbers;
  int64_t index = 0;
  /// Repeat: one for each variant. Its arguments are the index, then what is carried.
  std::vector<Region> body;
  std::vector<int64_t> table;      ///< Repeat: the variant that each iteration runs
  std::vector<std::string> blocks; ///< whose calls it was inlined with, the innermost first
  Location loc;
  std::string name;
  /// ShardingConstraint: what a map may call the value by (`layers.Layer.h`). Repeat: the same for
  /// what is carried; empty where it starts from an anchor, whose name it has then.
  std::vector<std::string> names;
};

/// How a parameter starts. `scale` is the value of Constant, the standard deviation of Normal and
/// TruncatedNormal, the bound a of Uniform's [-a, a); `cut` truncates at that many deviations.
struct Initialiser {
  enum class Kind { Constant, Normal, TruncatedNormal, Uniform };
  Kind kind = Kind::Constant;
  double scale = 0;
  double cut = 0;
  bool operator==(const Initialiser &) const = default;
};

/// A tensor that is kept from step to step: changed by the optimizer, or, a buffer, by an Update.
struct Parameter {
  /// `layers.wq` inside `repeat layers`; iteration 3's own is exchanged as `layers.3.wq`. Repeats
  /// and named calls come in the order of their nesting.
  std::string name;
  TensorType type;            ///< of one iteration
  std::vector<DimId> repeats; ///< outermost first; they lead the dimensions of the stored whole
  /// For each of them its part of the name, counted from 0: 1 in `teacher.layers.wq`.
  std::vector<int64_t> repeatSegments;
  /// For each of the repeats, the iterations that have the parameter.
  std::vector<std::vector<int64_t>> iterations;
  std::vector<Initialiser> initialisers; ///< one, or one per iteration in row-major order
  bool frozen = false;                   ///< no gradient, no update
  bool isBuffer = false;                 ///< no gradient, and an update that the model says
  bool isUpdated = false;                ///< a buffer, in some iteration
  Location loc;
};

struct Input {
  std::string name;
  TensorType type;
  Location loc;
};

struct Output {
  std::string name;
  ValueId value;
  Location loc;
};

/// One specialised model.
struct Model {
  std::string name;
  /// The model's arguments as they are in force, in the order of its declaration.
  struct Argument {
    std::string name, kind, value; ///< kind: "integer", "number", ...
  };
  std::vector<Argument> arguments;
  DimTable dims;
  std::vector<ValueInfo> values;
  std::vector<Parameter> parameters;
  std::vector<Input> inputs;
  Region body; ///< no arguments, no yields
  std::vector<Output> outputs;
  std::vector<Output> losses;  ///< in source order; at most one has no name
  std::optional<ValueId> loss; ///< their sum, which a run minimises
  Location loc;

  /// Elements of all parameters, or of all buffers, every iteration counted.
  int64_t parameterCount(bool buffers = false) const;
  /// Elements of one parameter, every iteration counted.
  int64_t elements(const Parameter &parameter) const;
};

} // namespace titan::sema

#endif
