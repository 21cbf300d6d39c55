// Base class of the components of the elaborator: access to the program under construction, to the
// evaluation context, and to shared operations. Each component has one task and reaches the others
// through `elaboration` (Elaboration.h).
#pragma once

#include "compiler/sema/elaboration/Call.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <set>
#include <span>

namespace titan::sema {

struct Elaboration;

inline constexpr size_t maxDims = 64; ///< dimensions of one tensor

/// The declared dimensions of the value that an expression defines; they determine the result of
/// `@`. Null: none are declared.
using Expected = const DimSet *;

/// An iteration of a repeat that encloses the current position.
struct Loop {
  DimId dim;
  int64_t index;
  const Frame *frame; ///< the frame whose body contains the repeat
};

/// The prefix of the names declared in a context.
struct NamePrefix {
  std::string text;                    ///< "teacher.layers."
  std::vector<int64_t> repeatSegments; ///< the segment of each repeat: {1}
};

/// The current position of the interpretation.
struct EvalContext {
  Frame *frame = nullptr;
  std::vector<Loop> loops;
  std::string variable; ///< the variable that the current expression computes
  /// Within `stop_gradient(...)`: losses of called models do not count.
  bool isConstant = false;

  /// Whether steps of training change what an expression means here: dropouts act, buffers change.
  bool isTraining() const;
  /// The innermost enclosing call that shares its parameters with others; null if there is none.
  const Frame *sharedCall() const;
  /// The repeats that number parameters: those around a shared call do not.
  std::span<const Loop> numberingLoops() const;
  /// The enclosing calls and numbering repeats in nesting order. A call contributes its `named`
  /// name; with `withCallees` also the name of the callee.
  NamePrefix prefix(const DimTable &dims, bool withCallees = false) const;
};

/// Whether one operation may combine operands of these element types. Floating-point types are
/// converted.
inline bool mayJoin(DType a, DType b) {
  return a == b || (isFloat(a) && isFloat(b));
}

class ElaboratorComponent {
protected:
  explicit ElaboratorComponent(Elaboration &elaboration);
  ElaboratorComponent(const ElaboratorComponent &) = delete;
  ElaboratorComponent &operator=(const ElaboratorComponent &) = delete;
  ~ElaboratorComponent() = default;

  // Shorthands for operations of other components.
  Value eval(const syntax::Expr &expr, Expected expected = nullptr);
  Value emit(Op op, TensorType type, Location at);
  std::optional<DimId> resolveDim(const syntax::Path &path);
  Diagnostic &report(Code code, Location at, std::string message);
  /// Whether the value is a tensor; reports otherwise. `what` names it: "the operand of `-`".
  bool expectTensor(const Value &value, Location at, const char *what);

  const TensorType &getTensorType(const Value &value) const {
    return model.values[value.tensor].type;
  }
  Binding *lookup(const syntax::Name &name) const { return context.frame->scope->find(name.text); }
  // For messages: "[batch, seq]", "[batch = 8, seq = 256]", "`batch` and `seq`".
  std::string print(const DimSet &dims) const;
  std::string printSizes(const DimSet &dims) const;
  std::string quote(const DimSet &dims) const;
  /// The name of a dimension for messages: "half", or "another half" if a function created the
  /// dimension and `half` denotes another one in this scope.
  std::string displayName(DimId id) const;

  Elaboration &elaboration;
  const Library &library;
  DiagnosticEngine &diags;
  Model &model;
  const Specialisation &spec;
  EvalContext &context;
};

} // namespace titan::sema
