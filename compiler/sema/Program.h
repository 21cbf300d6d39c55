// The checked program: what semantic analysis hands to lowering. Models are specialised, functions
// and blocks inlined, every name resolved, every type known; only `repeat` is kept as structure.
// Plain data without pointers into the syntax tree, so it can be printed, compared and tested.
//
// Sizes are elements. Every value and op has the place in the source that it came from, and the
// name of the variable that it was computed for.
#ifndef TITAN_COMPILER_SEMA_PROGRAM_H
#define TITAN_COMPILER_SEMA_PROGRAM_H

#include "compiler/diagnostics/SourceManager.h"
#include "compiler/sema/Dims.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace titan::sema {

enum class DType { F32, F64, BF16, F16, I64, Bool };
const char *spelling(DType dtype);
bool isFloat(DType dtype);

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
  bool anchor = false; ///< the parallel map binds it: its dimensions were written in the source
};

enum class OpKind {
  Parameter,    // -> the parameter `index`
  Input,        // -> the input `index`
  Constant,     // -> scalar `number`
  Elementwise,  // `word` names the function; operands join by name
  Contract,     // sums what both operands have and the result lacks
  Reduce,       // `word` is sum, max or min; over `dims`
  Gather,       // base, index; along dims[0]
  Iota,         // -> int[dims[0]], the global index along it
  Cast,         // to the result's dtype
  Rename,       // dims[0] is called dims[1] in the result
  Slice,        // dims[0] from `number` on, called dims[1] in the result
  Expand,       // the result has dims[...] besides; the values repeat along them
  StopGradient, // the operand; no gradient flows
  Rotary,       // over dims[0], along dims[1]; theta in `number`; `word` is interleaved or half
  Attention,    // q, k, v; over dims[0], along dims[1]; scale in `number`; `word` is causal or full
  Repeat        // dims[0] times; operands and results are what is carried
};

struct Op;

/// A body: what it takes, does and hands on.
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
  std::vector<ValueId> yields;
};

struct Op {
  OpKind kind;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<DimId> dims;
  std::string word;
  double number = 0;
  uint32_t index = 0;
  /// Repeat only. Iterations with equal bodies share a variant; `schedule[i]` is iteration i's.
  std::vector<Region> variants;
  std::vector<uint32_t> schedule;
  Location loc;
  std::string name;
};

/// How a parameter starts. One per iteration of the repeats around it, or one for all.
struct Initialiser {
  enum class Kind { Constant, Normal, TruncatedNormal, Uniform };
  Kind kind = Kind::Constant;
  /// Constant: a = the value. Normal: a = mean, b = standard deviation. TruncatedNormal: also
  /// c = the cut-off in standard deviations. Uniform: a = lowest, b = highest.
  double a = 0, b = 0, c = 0;
  bool operator==(const Initialiser &) const = default;
};

struct Parameter {
  std::string name; ///< `layers.{layers}.wq` inside a repeat: one name per iteration
  TensorType type;  ///< of one iteration
  std::vector<DimId> repeats; ///< outer to inner; they lead the dimensions of the stored whole
  std::vector<Initialiser> initialisers; ///< one, or one per iteration in row-major order
  bool trainable = true;
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
  DimTable dims;
  std::vector<ValueInfo> values;
  std::vector<Parameter> parameters;
  std::vector<Input> inputs;
  Region body; ///< no arguments, no yields
  std::vector<Output> outputs;
  std::optional<ValueId> loss;
  Location loc;

  /// Elements of all parameters, every iteration counted.
  int64_t parameterCount() const;
  /// Elements of one parameter, every iteration counted.
  int64_t elements(const Parameter &parameter) const;
};

} // namespace titan::sema

#endif
