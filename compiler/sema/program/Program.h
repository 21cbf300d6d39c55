// The checked program, which semantic analysis passes to lowering. Models are specialised,
// functions and blocks inlined, names resolved and types known. Of the control structure only
// `repeat` remains. It is plain data without pointers into the syntax tree, so it can be printed,
// compared and tested.
//
// Sizes count elements. Every value and operation has a source location and the name of the
// variable that it computes.
#pragma once

#include "compiler/diagnostics/SourceManager.h"
#include "compiler/sema/program/Dims.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace titan::sema {

enum class DType { F32, F64, BF16, I64, Bool };
const char *spelling(DType dtype);
bool isFloat(DType dtype);
/// The wider of two floating-point types.
DType wider(DType a, DType b);
/// The floating-point type with this spelling, if any.
std::optional<DType> floatCalled(const std::string &spelling);

struct TensorType {
  DType dtype = DType::F32;
  DimSet dims;
  bool operator==(const TensorType &) const = default;
};

/// Values are numbered over the whole program, including the bodies of repeats.
using ValueId = uint32_t;

struct ValueInfo {
  TensorType type;
  std::string
      name; ///< of the source variable, or of the variable that it helps to compute; never empty
  Location loc;
};

enum class OpKind {
  Parameter,          // -> the parameter `index`
  Update,             // the operand is the next value of the parameter `index`, a buffer
  Input,              // -> the input `index`
  Constant,           // -> scalar `number`; of an integer type `index`, which is exact
  Elementwise,        // `word` names the function; operands join by name
  Contract,           // sums the dimensions that both operands have and the result lacks
  Reduce,             // `word` is sum, max or min; over `dims`
  Gather,             // base, index; along dims[0]
  Iota,               // -> int[dims[0]], the global index along it
  Cast,               // to the result's dtype
  Rename,             // dims[0] is called dims[1] in the result
  Slice,              // dims[0] from `index` on, as dims[1] of the result
  Pad,                // dims[0] starts at `index` in dims[1] of the result; other elements are 0
  Split,              // splits dims[0] into several, in the order of the result
  Merge,              // merges several into dims[0] of the result
  Expand,             // broadcasts along the additional dims[...] of the result
  StopGradient,       // the operand; no gradient flows
  ShardingConstraint, // the operand, with declared dimensions; the map assigns its sharding
  Rotary,             // over dims[0], along dims[1]; theta in `number`, or the radians per
                      // position of each pair in `numbers`; `word` is interleaved or half
  Attention, // q, k, v, optional documents -> result, log-sum-exp; over dims[0], along dims[1];
             // scale in `number`; `word` is causal or full; window in `index` (0: none); bound of
             // the scores in `numbers`, if there is one
  TopK,      // -> values, indices; along dims[0], which becomes dims[1]
  Cumulate,  // sums along dims[0]; `word` is forward or reverse
  Count,     // for each element, an index of dims[0] below `index`: how often this index occurred
             // before, in the order of the other dims, outer to inner
  Scatter,   // updates, index -> sums along dims[0]
  Random,    // `word` is uniform or normal
  Dropout,   // the operand; in training, elements are 0 with the probability `number`
  Repeat,    // dims[0] iterations; operands and results are the iteration arguments
  Step,      // -> int, the number of the training step, from 1
  Training   // -> bool, whether the program trains
};

struct Op;

/// A body with its arguments, operations and yields.
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
  /// Repeat: one for each variant. Its arguments are the index and the iteration arguments.
  std::vector<Region> body;
  std::vector<int64_t> table;      ///< Repeat: the variant that each iteration runs
  std::vector<std::string> blocks; ///< the inlined block calls that contain it, innermost first
  Location loc;
  std::string name; ///< of the variable that it computes, as in ValueInfo
  /// ShardingConstraint: the names of the value in a map (`layers.Layer.h`). Repeat: the same for
  /// the iteration arguments; empty if the initial value has a constraint, whose name applies.
  std::vector<std::string> names;
  /// Repeat: the start of its parameters' names up to the iteration, `decoder.layers`.
  std::string path;
};

/// The initial values of a parameter. `scale` is the value of Constant, the standard deviation of
/// Normal and TruncatedNormal, the bound a of Uniform's [-a, a). `cut` truncates at that many
/// deviations.
struct Initialiser {
  enum class Kind { Constant, Normal, TruncatedNormal, Uniform };
  Kind kind = Kind::Constant;
  double scale = 0;
  double cut = 0;
  bool operator==(const Initialiser &) const = default;
};

/// A persistent tensor, changed by the optimizer or, if it is a buffer, by an Update.
struct Parameter {
  /// `layers.wq` inside `repeat layers`; files contain that of iteration 3 as `layers.3.wq`. The
  /// segments are the enclosing repeats and named calls, outermost first.
  std::string name;
  TensorType type;            ///< of one iteration
  std::vector<DimId> repeats; ///< outermost first; the leading dimensions of the stored tensor
  /// The segment of the name for each repeat, counted from 0: 1 in `teacher.layers.wq`.
  std::vector<int64_t> repeatSegments;
  /// For each repeat, the iterations that have the parameter.
  std::vector<std::vector<int64_t>> iterations;
  std::vector<Initialiser> initialisers; ///< one, or one per iteration in row-major order
  bool frozen = false;                   ///< no gradient, no update
  bool isBuffer = false;                 ///< no gradient; the model defines its update
  /// In weights to start from: "required", "optional", "partial" or "copy".
  std::string initFrom = "required";
  bool isExported = true; ///< files for other software contain it
  bool isUpdated = false; ///< a buffer, in some iteration
  size_t firstRule = 0; ///< of the run that applies: after the rule of the adapter that declares it
  Location loc;

  /// The name without its first segment: `w` for `reference.w`; empty if there is no other one.
  std::string getOriginalName() const {
    const size_t dot = name.find('.');
    return dot == std::string::npos ? "" : name.substr(dot + 1);
  }
};

struct Input {
  std::string name;
  TensorType type;
  Location loc;
};

/// An input that a setting would add: `input weights` in `if answers { ... }`.
struct AbsentInput {
  std::string name, setting; ///< setting: "model.answers=true"
};

struct Output {
  std::string name;
  ValueId value;
  Location loc;
};

/// One specialised model.
struct Model {
  std::string name;
  /// The arguments of the model in declaration order, including defaults.
  struct Argument {
    std::string name, kind, value; ///< kind: "integer", "number", ...
  };
  std::vector<Argument> arguments;
  /// Those of the models that the model calls, by the prefix of their parameters' names.
  std::map<std::string, std::vector<Argument>> calledArguments;
  DimTable dims;
  std::vector<ValueInfo> values;
  std::vector<Parameter> parameters;
  std::vector<Input> inputs;
  std::vector<AbsentInput> absentInputs;
  Region body; ///< no arguments, no yields
  std::vector<Output> outputs;
  std::vector<Output> losses;  ///< in source order; at most one has no name
  std::optional<ValueId> loss; ///< the sum of the losses, which a run minimises
  std::vector<Output> metrics; ///< in source order
  Location loc;

  /// Elements of all parameters, or of all buffers, every iteration counted.
  int64_t parameterCount(bool buffers = false) const;
  /// Elements of one parameter, every iteration counted.
  int64_t elements(const Parameter &parameter) const;
};

/// The dimensions and repeats of a component's parameters, which have the prefix `component` in
/// their names. Empty if `component` is empty.
std::vector<DimId> getComponentDims(const Model &model, const std::string &component);

} // namespace titan::sema
