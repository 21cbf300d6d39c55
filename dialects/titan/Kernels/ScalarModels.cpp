// Models of ScalarOpInterface.

#include "base/random/Philox.h"
#include "dialects/titan/IR/Compare.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Kernels/Formulas.h"
#include "dialects/titan/Kernels/Kernels.h"
#include "dialects/titan/Kernels/ScalarText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

template <typename Model, typename Op>
using ScalarModelBase = ScalarOpInterface::ExternalModel<Model, Op>;

Type getElement(Value value) {
  return cast<NamedTensorType>(value.getType()).getElementType();
}

/// An operation that is one formula over its operands.
template <typename Op, typename Formula>
struct FormulaModel : ScalarModelBase<FormulaModel<Op, Formula>, Op> {
  void evaluateElement(Operation *, ArrayRef<double> in, MutableArrayRef<double> out) const {
    out[0] = Formula::value(in);
  }
  std::string getElementExpression(Operation *, ArrayRef<std::string> in, unsigned,
                                   StringRef type) const {
    return fillPattern(Formula::text, in, type);
  }
};

/// Integer division truncates; division by 0 gives 0.
struct DivModel : ScalarModelBase<DivModel, DivOp> {
  void evaluateElement(Operation *op, ArrayRef<double> in, MutableArrayRef<double> out) const {
    out[0] = formulas::Div::value(in);
    if (getElement(op->getResult(0)).isInteger())
      out[0] = in[1] == 0 ? 0 : std::trunc(out[0]);
  }
  std::string getElementExpression(Operation *op, ArrayRef<std::string> in, unsigned,
                                   StringRef type) const {
    bool isInteger = getElement(op->getResult(0)).isInteger();
    return fillPattern(isInteger ? "tm::quotient($0, $1)" : formulas::Div::text, in, type);
  }
};

struct CompareModel : ScalarModelBase<CompareModel, CompareOp> {
  static StringRef getPattern(ComparePredicate predicate) {
    switch (predicate) {
    case ComparePredicate::EQ:
      return "($0 == $1)";
    case ComparePredicate::NE:
      return "($0 != $1)";
    case ComparePredicate::LT:
      return "($0 < $1)";
    case ComparePredicate::LE:
      return "($0 <= $1)";
    case ComparePredicate::GT:
      return "($0 > $1)";
    case ComparePredicate::GE:
      return "($0 >= $1)";
    }
    return "";
  }
  void evaluateElement(Operation *op, ArrayRef<double> in, MutableArrayRef<double> out) const {
    out[0] = compare<double>(cast<CompareOp>(op).getPredicate(), in[0], in[1]);
  }
  std::string getElementExpression(Operation *op, ArrayRef<std::string> in, unsigned,
                                   StringRef type) const {
    return fillPattern(getPattern(cast<CompareOp>(op).getPredicate()), in, type);
  }
};

/// The C++ expression that converts `value` to `element`. bf16 is computed in float and rounded
/// when it is stored. `element` is the type of the result; the operand's type may be wider.
std::string getConversion(Type element, StringRef value) {
  if (element.isInteger(1))
    return ("(" + value + " != 0)").str();
  StringRef type = element.isInteger() ? "int64_t" : element.isF64() ? "double" : "float";
  return (type + "(" + value + ")").str();
}

struct CastModel : ScalarModelBase<CastModel, CastOp> {
  void evaluateElement(Operation *op, ArrayRef<double> in, MutableArrayRef<double> out) const {
    Type element = getElement(op->getResult(0));
    out[0] = element.isInteger(1) ? in[0] != 0 : element.isInteger() ? std::trunc(in[0]) : in[0];
  }
  std::string getElementExpression(Operation *op, ArrayRef<std::string> in, unsigned,
                                   StringRef) const {
    return getConversion(getElement(op->getResult(0)), in[0]);
  }
};

struct ConstantModel : ScalarModelBase<ConstantModel, ConstantOp> {
  void evaluateElement(Operation *op, ArrayRef<double>, MutableArrayRef<double> out) const {
    out[0] = cast<ConstantOp>(op).getNumber();
  }
  std::string getElementExpression(Operation *op, ArrayRef<std::string>, unsigned,
                                   StringRef type) const {
    auto constant = cast<ConstantOp>(op);
    Type element = getElement(op->getResult(0));
    if (element.isInteger(1))
      return constant.getInteger() != 0 ? "true" : "false";
    if (element.isInteger())
      return "int64_t(" + std::to_string(constant.getInteger()) + ")";
    llvm::APFloat exact(constant.getNumber());
    bool losesDigits = false;
    if (element.isBF16())
      exact.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &losesDigits);
    return (type + "(" + getLiteral(exact.convertToDouble()) + ")").str();
  }
};

/// The inputs are the global index of the element in the chunk, the keys, and the starts of the
/// chunk.
struct RandomModel : ScalarModelBase<RandomModel, RandomOp> {
  void evaluateElement(Operation *op, ArrayRef<double> in, MutableArrayRef<double> out) const {
    auto random = cast<RandomOp>(op);
    size_t numKeys = random.getKeys().size();
    uint64_t keys = 0, index = static_cast<uint64_t>(in[0]);
    for (double key : in.slice(1, numKeys))
      keys = element::fold(keys, static_cast<uint64_t>(static_cast<int64_t>(key)));
    for (auto [i, start] : llvm::enumerate(in.drop_front(1 + numKeys)))
      index += static_cast<uint64_t>(start) * random.getStartStride(i);
    uint64_t stream = element::stream(random.getStream());
    out[0] = random.getKind() == RandomKind::Uniform ? element::uniform<double>(stream, index, keys)
                                                     : element::normal<double>(stream, index, keys);
  }
  std::string getElementExpression(Operation *op, ArrayRef<std::string> in, unsigned,
                                   StringRef type) const {
    auto random = cast<RandomOp>(op);
    size_t numKeys = random.getKeys().size();
    uint64_t stream = element::stream(random.getStream());
    std::string index = in[0];
    for (auto [i, start] : llvm::enumerate(in.drop_front(1 + numKeys)))
      index += " + int64_t(" + start + ") * " + std::to_string(random.getStartStride(i));
    std::string keys = llvm::join(in.slice(1, numKeys), ", ");
    return ("tm::" + stringifyRandomKind(random.getKind()) + "<" + type + ">(0x" +
            llvm::utohexstr(stream, /*LowerCase=*/true) + "ull, " + index + (numKeys ? ", " : "") +
            keys + ")")
        .str();
  }
};

template <typename Op, typename Formula> void attachFormula(MLIRContext &context) {
  Op::template attachInterface<FormulaModel<Op, Formula>>(context);
}

} // namespace

void ir::registerScalarModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachFormula<NegOp, formulas::Neg>(*context);
    attachFormula<ExpOp, formulas::Exp>(*context);
    attachFormula<LogOp, formulas::Log>(*context);
    attachFormula<SqrtOp, formulas::Sqrt>(*context);
    attachFormula<RsqrtOp, formulas::Rsqrt>(*context);
    attachFormula<TanhOp, formulas::Tanh>(*context);
    attachFormula<SigmoidOp, formulas::Sigmoid>(*context);
    attachFormula<ErfOp, formulas::Erf>(*context);
    attachFormula<SinOp, formulas::Sin>(*context);
    attachFormula<CosOp, formulas::Cos>(*context);
    attachFormula<FloorOp, formulas::Floor>(*context);
    attachFormula<AddOp, formulas::Add>(*context);
    attachFormula<SubOp, formulas::Sub>(*context);
    attachFormula<MulOp, formulas::Mul>(*context);
    attachFormula<PowOp, formulas::Pow>(*context);
    attachFormula<MaximumOp, formulas::Maximum>(*context);
    attachFormula<MinimumOp, formulas::Minimum>(*context);
    attachFormula<SelectOp, formulas::Select>(*context);
    attachFormula<ExpandOp, formulas::Identity>(*context);
    attachFormula<CopyOp, formulas::Identity>(*context);
    attachFormula<IotaOp, formulas::Identity>(*context);
    DivOp::attachInterface<DivModel>(*context);
    CompareOp::attachInterface<CompareModel>(*context);
    CastOp::attachInterface<CastModel>(*context);
    ConstantOp::attachInterface<ConstantModel>(*context);
    RandomOp::attachInterface<RandomModel>(*context);
  });
}
