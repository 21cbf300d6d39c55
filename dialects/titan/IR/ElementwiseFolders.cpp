// Folders of elementwise operations.
//
// A fold keeps every bit of a value, the sign of zero included, and its type with dimensions in
// their order and sharding:
//
// - x + 0 folds for integers and for -0 only: -0 + 0 is 0. x - 0 always folds.
// - x * 0 does not fold: x may be infinite, NaN or negative.
// - Nothing is reassociated.
// - Arithmetic on constants folds in i64, f32 and f64, not in bf16, whose formulas are computed in
//   f32 and rounded when they are stored.

#include "dialects/titan/IR/Compare.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace titan::ir;
using llvm::APFloat;

static Type getElement(Value value) {
  return getTensorType(value).getElementType();
}

/// Rounds `number` to `element`.
static APFloat round(APFloat number, Type element) {
  bool losesDigits = false;
  number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesDigits);
  return number;
}

/// A floating-point number as the value of a constant: an f64.
static Attribute makeNumber(MLIRContext *context, APFloat number) {
  bool losesDigits = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesDigits);
  return FloatAttr::get(Float64Type::get(context), number);
}

static Attribute makeInteger(MLIRContext *context, int64_t value) {
  return IntegerAttr::get(IntegerType::get(context, 64), value);
}

/// Whether `value` is `number` of any element type, or an expansion of it. Distinguishes 0 and -0.
static bool isNumber(Value value, double number) {
  ConstantOp constant = getConstant(value);
  if (!constant)
    return false;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return real.getValue().isExactlyValue(number);
  return constant.getInteger() == static_cast<int64_t>(number);
}

/// Whether adding `value` changes no bit.
static bool isNeutralForAdd(Value value) {
  return isNumber(value, isa<FloatType>(getElement(value)) ? -0.0 : 0.0);
}

/// `value` if it has the type of `result`; else null, since a folder must not reorder dimensions.
static Value ifTyped(Value value, Value result) {
  return value.getType() == result.getType() ? value : Value();
}

using FloatFormula = llvm::function_ref<APFloat(APFloat, APFloat)>;
using IntegerFormula = llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)>;

/// The formula over two constants. Null if an operand is no constant, the element type is bf16 or
/// i1, or the result is NaN or undefined.
static Attribute foldConstants(Type element, Attribute lhs, Attribute rhs, FloatFormula onFloats,
                               IntegerFormula onIntegers) {
  if (!lhs || !rhs || element.isInteger(1))
    return {};
  if (auto left = dyn_cast<IntegerAttr>(lhs)) {
    std::optional<int64_t> value = onIntegers(left.getInt(), cast<IntegerAttr>(rhs).getInt());
    return value ? makeInteger(lhs.getContext(), *value) : Attribute();
  }
  if (element.isBF16())
    return {};
  APFloat value = onFloats(round(cast<FloatAttr>(lhs).getValue(), element),
                           round(cast<FloatAttr>(rhs).getValue(), element));
  return value.isNaN() ? Attribute() : makeNumber(lhs.getContext(), value);
}

/// Signed arithmetic that wraps around.
template <typename Formula> static int64_t wrap(int64_t x, int64_t y, Formula formula) {
  return static_cast<int64_t>(formula(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto before = getInput().getDefiningOp<NegOp>())
    return ifTyped(before.getInput(), getResult());
  auto number = dyn_cast_or_null<FloatAttr>(adaptor.getInput());
  return number ? makeNumber(getContext(), llvm::neg(number.getValue())) : Attribute();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isNeutralForAdd(getRhs()) && ifTyped(getLhs(), getResult()))
    return getLhs();
  if (isNeutralForAdd(getLhs()) && ifTyped(getRhs(), getResult()))
    return getRhs();
  return foldConstants(
      getElement(getResult()), adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x + y; },
      [](int64_t x, int64_t y) { return wrap(x, y, std::plus<>()); });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isNumber(getRhs(), 0.0) && ifTyped(getLhs(), getResult()))
    return getLhs();
  return foldConstants(
      getElement(getResult()), adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x - y; },
      [](int64_t x, int64_t y) { return wrap(x, y, std::minus<>()); });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isNumber(getRhs(), 1.0) && ifTyped(getLhs(), getResult()))
    return getLhs();
  if (isNumber(getLhs(), 1.0) && ifTyped(getRhs(), getResult()))
    return getRhs();
  return foldConstants(
      getElement(getResult()), adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x * y; },
      [](int64_t x, int64_t y) { return wrap(x, y, std::multiplies<>()); });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(getRhs(), 1.0) && ifTyped(getLhs(), getResult()))
    return getLhs();
  return foldConstants(
      getElement(getResult()), adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x / y; },
      [](int64_t x, int64_t y) -> std::optional<int64_t> {
        if (y == -1) // the only quotient that may overflow
          return std::nullopt;
        return y == 0 ? 0 : x / y;
      });
}

OpFoldResult PowOp::fold(FoldAdaptor) {
  return isNumber(getRhs(), 1.0) ? ifTyped(getLhs(), getResult()) : Value();
}

OpFoldResult MaximumOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() ? ifTyped(getLhs(), getResult()) : Value();
}

OpFoldResult MinimumOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() ? ifTyped(getLhs(), getResult()) : Value();
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<IntegerAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_or_null<IntegerAttr>(adaptor.getRhs());
  if (!lhs || !rhs)
    return {};
  return makeInteger(getContext(), compare<int64_t>(getPredicate(), lhs.getInt(), rhs.getInt()));
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getWhenTrue() == getWhenFalse())
    return ifTyped(getWhenTrue(), getResult());
  if (ConstantOp condition = getConstant(getCondition()))
    return ifTyped(condition.getInteger() ? getWhenTrue() : getWhenFalse(), getResult());
  return {};
}

/// Whether every value of `from` is also one of `to`.
static bool isExactCast(CastOp op) {
  Type from = getElement(op.getInput()), to = getElement(op.getResult());
  return from.isInteger(1) || isSameOrWiderFloat(from, to);
}

/// The constant converted as the cast does; null where the result is undefined or rounded twice.
static Attribute convertConstant(Attribute value, Type from, Type to) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (to.isInteger(1))
      return makeInteger(value.getContext(), integer.getInt() != 0);
    if (to.isInteger())
      return integer;
    APFloat number(cast<FloatType>(to).getFloatSemantics());
    auto status = number.convertFromAPInt(integer.getValue(), /*IsSigned=*/true,
                                          APFloat::rmNearestTiesToEven);
    return status == APFloat::opOK ? makeNumber(value.getContext(), number) : Attribute();
  }
  APFloat number = round(cast<FloatAttr>(value).getValue(), from);
  if (to.isInteger(1))
    return makeInteger(value.getContext(), !number.isZero());
  if (isa<FloatType>(to))
    return number.isNaN() ? Attribute() : makeNumber(value.getContext(), round(number, to));
  llvm::APSInt truncated(64, /*isUnsigned=*/false);
  bool isExact = false;
  if (number.convertToInteger(truncated, APFloat::rmTowardZero, &isExact) & APFloat::opInvalidOp)
    return {};
  return makeInteger(value.getContext(), truncated.getExtValue());
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  if (adaptor.getInput())
    return convertConstant(adaptor.getInput(), getElement(getInput()), getElement(getResult()));
  auto before = getInput().getDefiningOp<CastOp>();
  if (!before || !isExactCast(before))
    return {};
  return ifTyped(before.getInput(), getResult());
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  auto before = getInput().getDefiningOp<ExpandOp>();
  if (!before)
    return {};
  getInputMutable().assign(before.getInput());
  return getResult();
}
