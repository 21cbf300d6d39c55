// What all parts of the elaboration have: the program under construction, the place in the text
// where the interpretation stands, and the words that every part says. Each part does one thing and
// asks the others, by `parts`, for what is theirs (Elaboration.h).
#ifndef TITAN_COMPILER_SEMA_ELABORATION_ELABORATORCOMPONENT_H
#define TITAN_COMPILER_SEMA_ELABORATION_ELABORATORCOMPONENT_H

#include "compiler/sema/elaboration/Call.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <set>

namespace titan::sema {

struct Elaboration;

inline constexpr size_t maxDims = 64; ///< of a tensor

/// Declared dimensions that `@` may rely on; null: none.
using Expected = const DimSet *;

struct Loop {
  DimId dim;
  int64_t index;
  const Frame *frame; ///< whose body the repeat is in
};

/// What comes before the name of what is declared at a place.
struct NamePrefix {
  std::string text;                    ///< "teacher.layers."
  std::vector<int64_t> repeatSegments; ///< of each repeat, which part it is: {1}
};

/// Where the interpretation stands.
struct EvalContext {
  Frame *frame = nullptr;
  std::vector<Loop> loops;
  std::string variable; ///< that the expression at hand is computed for

  /// The repeats and calls around it in the order of their nesting. A call contributes what `named`
  /// gave it; with `withCallees` also the name of what is called.
  NamePrefix prefix(const DimTable &dims, bool withCallees = false) const;
};

/// Where element types of operands may differ: floating-point ones are converted.
inline bool mayJoin(DType a, DType b) {
  return a == b || (isFloat(a) && isFloat(b));
}

class ElaboratorComponent {
protected:
  explicit ElaboratorComponent(Elaboration &elaboration);
  ElaboratorComponent(const ElaboratorComponent &) = delete;
  ElaboratorComponent &operator=(const ElaboratorComponent &) = delete;
  ~ElaboratorComponent() = default;

  /// Of the parts that do this; see there.
  Value eval(const syntax::Expr &expr, Expected expected = nullptr);
  Value emit(Op op, TensorType type, Location at);
  std::optional<DimId> dimOf(const syntax::Path &path);
  Diagnostic &report(Code code, Location at, std::string message);
  bool expectTensor(const Value &value, Location at, const char *what);

  const TensorType &typeOf(const Value &value) const { return model.values[value.tensor].type; }
  Binding *lookup(const syntax::Name &name) const { return context.frame->scope->find(name.text); }
  std::string print(const DimSet &dims) const;
  std::string printSizes(const DimSet &dims) const;
  std::string quote(const DimSet &dims) const;
  /// "half"; "another half" where `half` stands for another one here: a function made it.
  std::string displayName(DimId id) const;

  Elaboration &elaboration;
  const Library &library;
  DiagnosticEngine &diags;
  Model &model;
  const Specialisation &spec;
  EvalContext &context;
};

} // namespace titan::sema

#endif
