#include "compiler/sema/elaboration/Elaboration.h"

#include <cmath>
#include <string_view>

namespace titan::sema {

using namespace syntax;

Value TensorOps::constantLike(const Value &value, const TensorType &type, Location at) {
  Op op(OpKind::Constant);
  op.number = value.number();
  if (!isFloat(type.dtype))
    op.index = value.isInt() ? value.integer : static_cast<int64_t>(value.number());
  return emit(std::move(op), {type.dtype, {}}, at);
}

Value TensorOps::dropout(const Value &x, double rate, Location at) {
  if (rate == 0 || !context.isTraining())
    return x;
  Op op(OpKind::Dropout, {x.tensor});
  op.number = rate;
  return emit(std::move(op), getTensorType(x), at);
}

Value TensorOps::unary(const char *word, const Value &operand, Location at) {
  TensorType type = getTensorType(operand);
  if (type.dtype == DType::I64 && std::string_view(word) == "neg")
    return elementwise("sub", Value::ofInt(0), operand, at, at, at);
  if (!isFloat(type.dtype)) {
    report(Code::DTypeMismatch, at,
           std::string("`") + (std::string_view(word) == "neg" ? "-" : word) +
               "` works on floating-point tensors, not on " + spelling(type.dtype))
        .help("convert the tensor: `float(x)`");
    return {};
  }
  Op op(OpKind::Elementwise, {operand.tensor});
  op.word = word;
  return emit(std::move(op), type, at);
}

/// An operand of an elementwise operation as a tensor: a number becomes a constant of the element
/// type of the other operand.
Value TensorOps::asOperand(const Value &value, const Value &other, Location at) {
  if (value.isTensor())
    return value;
  if (value.isNumber() && getTensorType(other).dtype == DType::I64 && !value.isInt()) {
    const bool isInteger = std::trunc(value.number()) == value.number();
    report(Code::DTypeMismatch, at,
           "the tensor is int, but " + value.print() +
               (isInteger ? ".0 is a floating-point number" : " is not an integer"))
        .help((isInteger ? "write `" + value.print() + "`, or " : std::string()) +
              "convert the tensor: `float(x)`");
    return {};
  }
  if (value.isNumber() && getTensorType(other).dtype != DType::Bool)
    return constantLike(value, getTensorType(other), at);
  if (value.isNumber()) {
    report(Code::DTypeMismatch, at,
           "the result of a comparison is bool, which cannot be combined with a number")
        .help("convert it to a number: `float(x)`, or `int(x)`");
    return {};
  }
  if (!value.isError())
    report(Code::BadOperands, at,
           std::string("a tensor cannot be combined with ") + value.describe());
  return {};
}

Value TensorOps::refuseOuterProduct(const Join &join, const TensorType &lhs, const TensorType &rhs,
                                    Location at, Location lhsLoc, Location rhsLoc,
                                    const BinaryExpr *expr) {
  Diagnostic &diag =
      report(Code::OuterProduct, at,
             "only the left side has " + quote(join.onlyLeft) + ", only the right side has " +
                 quote(join.onlyRight) + ": this would be an outer product");
  if (expr) {
    elaboration.reports.noteOperand(diag, *expr->lhs, lhs.dims);
    elaboration.reports.noteOperand(diag, *expr->rhs, rhs.dims);
  } else {
    diag.note(lhsLoc, "this has " + print(lhs.dims)).note(rhsLoc, "this has " + print(rhs.dims));
  }
  diag.help("the dimensions of one side must be a subset of the other's; for an outer product "
            "write `expand(x, " +
            model.dims[join.onlyRight[0]].name + ")`");
  return {};
}

Value TensorOps::elementwise(const char *word, const Value &lhs, const Value &rhs, Location at,
                             Location lhsLoc, Location rhsLoc, const BinaryExpr *expr) {
  Value left = asOperand(lhs, rhs, lhsLoc), right = asOperand(rhs, lhs, rhsLoc);
  if (left.isError() || right.isError())
    return {};
  const TensorType a = getTensorType(left), b = getTensorType(right);
  if (!mayJoin(a.dtype, b.dtype)) {
    Diagnostic &diag = report(Code::DTypeMismatch, at,
                              std::string("element types differ: ") + spelling(a.dtype) + " and " +
                                  spelling(b.dtype));
    diag.note(lhsLoc, std::string("this is ") + spelling(a.dtype))
        .note(rhsLoc, std::string("this is ") + spelling(b.dtype));
    const bool isLeft = isFloat(b.dtype); // then the left one is to be converted
    std::string text(diags.sourceManager().text(isLeft ? lhsLoc : rhsLoc));
    std::string other(diags.sourceManager().text(isLeft ? rhsLoc : lhsLoc));
    auto calls = [&](const char *function) { return other.find(function) != std::string::npos; };
    const bool isWhole = other.size() < 40 && (calls("where(") || calls("floor("));
    if ((isFloat(a.dtype) || isLeft) && text.size() < 40)
      diag.help("write `float(" + text + ")`" +
                (isWhole ? ", or for whole numbers `int(" + other + ")`" : ""));
    return {};
  }
  if (a.dtype == DType::Bool && (std::string(word) == "sub" || std::string(word) == "div")) {
    report(Code::DTypeMismatch, at,
           std::string("booleans are not ") +
               (std::string(word) == "sub" ? "subtracted" : "divided"))
        .help("convert them to numbers: `float(x)`, or `int(x)`");
    return {};
  }
  Join join = joinElementwise(a.dims, b.dims);
  if (!join.valid())
    return refuseOuterProduct(join, a, b, at, lhsLoc, rhsLoc, expr);
  bool isCompare = std::string(word).size() == 2; // eq, ne, lt, le, gt, ge
  Op op(OpKind::Elementwise, {left.tensor, right.tensor});
  op.word = word;
  return emit(std::move(op), {isCompare ? DType::Bool : a.dtype, join.result}, at);
}

/// The sum of booleans counts the true ones.
Value TensorOps::booleansAsIntegers(const Value &operand, Location at) {
  const TensorType type = getTensorType(operand);
  if (type.dtype != DType::Bool)
    return operand;
  return emit(Op(OpKind::Cast, {operand.tensor}), {DType::I64, type.dims}, at);
}

Value TensorOps::reduce(const char *word, const Value &reduced, const std::vector<DimId> &over,
                        Location at) {
  const Value operand = std::string(word) == "sum" ? booleansAsIntegers(reduced, at) : reduced;
  TensorType type = getTensorType(operand);
  DimSet removed;
  for (DimId id : over) {
    if (!type.dims.contains(id)) {
      report(Code::DimensionNotThere, at,
             "the tensor has no dimension `" + model.dims[id].name + "` to reduce over; it has " +
                 print(type.dims));
      return {};
    }
    removed.insert(id);
  }
  Op op(OpKind::Reduce, {operand.tensor});
  op.word = word;
  op.dims = over;
  return emit(std::move(op), {type.dtype, type.dims.without(removed)}, at);
}

std::string TensorOps::nameForMaps(const std::string &name) const {
  return context.prefix(model.dims, /*withCallees=*/true).text + name;
}

Value TensorOps::constrain(Value value, const DimSet &declared, Location declaredAt,
                           Location valueLoc) {
  const TensorType type = getTensorType(value);
  DimSet missing = declared.without(type.dims), extra = type.dims.without(declared);
  if (missing.empty() && extra.empty()) {
    Op op(OpKind::ShardingConstraint, {value.tensor});
    op.names = {nameForMaps(context.variable)};
    return emit(std::move(op), type, valueLoc);
  }
  std::string what;
  if (!missing.empty())
    what = quote(missing) + (missing.size() == 1 ? " is" : " are") +
           " declared, but the value has " +
           (missing.size() == 1 ? "no such dimension" : "no such dimensions");
  if (!extra.empty())
    what += (what.empty() ? "" : ", and ") + quote(extra) +
            (extra.size() == 1 ? " is a dimension" : " are dimensions") +
            " of the value that the declaration lacks";
  Diagnostic &diag = report(Code::DeclaredDimensionsDiffer, declaredAt, what);
  diag.note(valueLoc, "the value has " + print(type.dims));
  if (!extra.empty())
    diag.help("sums are explicit: write `sum(x, over " + model.dims[extra[0]].name +
              ")`, or add the dimension");
  else
    diag.help("broadcasts are explicit: write `expand(x, " + model.dims[missing[0]].name +
              ")`, or remove the dimension");
  return {};
}

} // namespace titan::sema
