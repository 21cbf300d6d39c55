// How operations get into the program under construction.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_RECORDER_H
#define TITAN_COMPILER_SEMA_ELABORATION_RECORDER_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"
#include "compiler/sema/elaboration/Positions.h"

namespace titan::sema {

class Recorder : ElaboratorComponent {
public:
  explicit Recorder(Elaboration &elaboration);

  ValueId newValue(TensorType type, Location at);
  /// Appends the op with one result of this type. It computes in the region's element type:
  /// floating-point operands are converted to that first, and a floating-point result has it.
  Value emit(Op op, TensorType type, Location at);
  /// Likewise with several results, as a list, of exactly these types.
  Value emitAll(Op op, std::vector<TensorType> types, Location at);
  /// Appends the op as it is.
  Value append(Op op, TensorType type, Location at);
  /// A floating-point tensor as `dtype`, converted once for all uses; anything else as it is.
  ValueId converted(ValueId value, DType dtype, Location at);
  /// Whether all that is known of an index lies within a dimension; reports otherwise.
  bool indexFits(const Value &index, DimId dim, Location at);
  /// The line of the program that an operation at this place belongs to.
  Location callerLocation(Location at) const;
  /// Forgets the values from this one on.
  void dropFrom(size_t value);

  Region *region;
  DType computeType; ///< of the region at hand: the run's, or that of the innermost `in`

  /// What is known of the values that are visible here.
  struct Knowledge {
    std::map<std::pair<ValueId, DType>, ValueId> conversions;
    std::map<ValueId, Positions> positions; ///< of integer tensors that positions alone decide
  };
  Knowledge known;

private:
  Value appendAll(Op op, std::vector<TensorType> types, Location at);
  bool checkElements(const TensorType &type, Location at);
  void notePositions(const Op &op);
  void noteDocumentPositions(const Input &input, ValueId id);

  bool reportedTooLarge = false; ///< that a tensor is was said
};

/// While it lives, another element type is computed in.
class Island {
public:
  Island(Recorder &recorder, DType dtype) : recorder(recorder), outer(recorder.computeType) {
    recorder.computeType = dtype;
  }
  ~Island() { recorder.computeType = outer; }
  Island(const Island &) = delete;
  Island &operator=(const Island &) = delete;

private:
  Recorder &recorder;
  DType outer;
};

} // namespace titan::sema

#endif
