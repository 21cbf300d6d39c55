// The element types that declarations state: `let s: f32[batch] = ...`.
#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

using namespace syntax;

std::optional<DType> Annotations::getStated(const TypeSpec &type) {
  if (!type.dtype)
    return std::nullopt;
  std::optional<DType> dtype = elaboration.dims.resolveDType(*type.dtype);
  // Runs in f64 serve to verify numbers, so no value of theirs is narrower.
  return dtype && isFloat(*dtype) && spec.compute == DType::F64 ? DType::F64 : dtype;
}

DType Annotations::getComputeType(std::optional<DType> stated) const {
  return stated && isFloat(*stated) ? *stated : elaboration.recorder.computeType;
}

Value Annotations::convert(const Value &value, std::optional<DType> stated, const TypeSpec &type,
                           Location at) {
  if (!stated || value.isError())
    return value;
  if (!value.isTensor()) {
    checkNumber(value, *stated, type.dtype->loc, at);
    return value;
  }
  const DType actual = getTensorType(value).dtype;
  if (!mayJoin(actual, *stated)) {
    refuseTensor(actual, *stated, type.dtype->loc, at);
    return value;
  }
  return Value::ofTensor(elaboration.recorder.converted(value.tensor, *stated, at));
}

void Annotations::refuseTensor(DType actual, DType stated, Location statedAt, Location at) {
  Diagnostic &diag = report(Code::DTypeMismatch, at,
                            std::string("this is ") + spelling(actual) + ", not " +
                                spelling(stated) + " as stated");
  diag.note(statedAt, "the element type is stated here");
  if (isFloat(stated))
    diag.help("convert it: `float(x)`");
  else if (stated == DType::Bool)
    diag.help("compare it: `x != 0`");
  else
    diag.help("convert it: `int(x)`, which rounds toward 0");
}

/// A number that is known at compile time has the element type of the tensor that it combines with,
/// so a floating-point type would have no effect.
void Annotations::checkNumber(const Value &value, DType stated, Location statedAt, Location at) {
  const bool isInteger = stated == DType::I64 && value.isInt();
  const bool isBoolean = stated == DType::Bool && value.kind == Value::Kind::Bool;
  if (isInteger || isBoolean)
    return;
  Diagnostic &diag = report(Code::DTypeMismatch, at,
                            std::string("this is ") + value.describe() + ", not a tensor of " +
                                spelling(stated) + " as stated");
  diag.note(statedAt, "the element type is stated here");
  if (isFloat(stated) && value.isNumber())
    diag.help("leave the type out: a number has the element type of the tensor that it combines "
              "with");
}

} // namespace titan::sema
