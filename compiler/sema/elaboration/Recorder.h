// Appends operations to the program under construction.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"
#include "compiler/sema/elaboration/Positions.h"

namespace titan::sema {

class Recorder : ElaboratorComponent {
public:
  explicit Recorder(Elaboration &elaboration);

  ValueId newValue(TensorType type, Location at);
  /// Appends the operation with one result of this type. It computes in the element type of the
  /// region: floating-point operands are converted to it, and a floating-point result has it.
  Value emit(Op op, TensorType type, Location at);
  /// Likewise with several results, as a list, of exactly these types.
  Value emitAll(Op op, std::vector<TensorType> types, Location at);
  /// Appends the operation without conversions.
  Value append(Op op, TensorType type, Location at);
  /// A floating-point tensor as `dtype`, converted once for all uses; other tensors unchanged.
  ValueId converted(ValueId value, DType dtype, Location at);
  /// Checks that the known range of an index is inside of a dimension; reports otherwise.
  bool indexFits(const Value &index, DimId dim, Location at);
  /// The source line for an operation at this location: that of the call, inside of functions.
  Location callerLocation(Location at) const;
  /// Removes the knowledge about values from this one on.
  void dropFrom(size_t value);

  Region *region;
  DType computeType; ///< of the current region: that of the run, or of the innermost `in`

  /// A value as a sum: products with `update` drop elements of the other operand.
  struct DroppingTerm {
    std::optional<ValueId> rest; ///< none: the value is `update`
    ValueId update;
    double rate;
    Location loc; ///< of the call that marks it
  };

  /// The knowledge about the visible values.
  struct Knowledge {
    std::map<std::pair<ValueId, DType>, ValueId> conversions;
    std::map<ValueId, Positions> positions; ///< of integer tensors that are functions of indices
    std::map<ValueId, DroppingTerm> droppingTerms; ///< InputDropout
  };
  Knowledge known;

private:
  Value appendAll(Op op, std::vector<TensorType> types, Location at);
  bool checkElements(OpKind kind, const TensorType &type, Location at);
  void reportTooLarge(const TensorType &type, Location at);
  void notePositions(const Op &op);
  void noteDocumentPositions(const Input &input, ValueId id);

  bool reportedTooLarge = false; ///< a too large tensor was reported
};

/// A precision region: sets another compute type during its lifetime.
class PrecisionRegion {
public:
  PrecisionRegion(Recorder &recorder, DType dtype)
      : recorder(recorder), outer(recorder.computeType) {
    recorder.computeType = dtype;
  }
  ~PrecisionRegion() { recorder.computeType = outer; }
  PrecisionRegion(const PrecisionRegion &) = delete;
  PrecisionRegion &operator=(const PrecisionRegion &) = delete;

private:
  Recorder &recorder;
  DType outer;
};

} // namespace titan::sema
