// Decomposes rotary embeddings into rotations of pairs.

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/TensorBuilder.h"

#include <cmath>

using namespace mlir;
using namespace titan::ir;

namespace {

/// Builds the rotation of Su et al., arXiv 2104.09864, equation 34.
class Rotation {
public:
  Rotation(RotaryOp op, OpBuilder &builder)
      : op(op), math(builder, op.getLoc()), type(op.getInput().getType()),
        size(type.getDims()[type.findDimIndex(op.getDimAttr())].getSize()),
        pair(getDerivedDim(".pair", size / 2)), two(getDerivedDim(".two", 2)),
        one(getDerivedDim(".one", 1)) {}

  Value build() {
    Type element = getAccumulationType(type.getElementType());
    Value input = math.cast(op.getInput(), element);
    Value pairs = math.create<SplitOp>(getSplitType(element, two), input, op.getDimAttr());
    Value x = slice(pairs, 0), y = slice(pairs, 1), angles = getAngles();
    Value c = math.cast(math.create<CosOp>(angles), element);
    Value s = math.cast(math.create<SinOp>(angles), element);
    if (op.getInverse())
      s = math.neg(s);
    // One statement each: C++ does not fix the evaluation order of arguments.
    Value xc = math.mul(x, c), ys = math.mul(y, s), xs = math.mul(x, s), yc = math.mul(y, c);
    Value first = pad(math.sub(xc, ys), 0), second = pad(math.add(xs, yc), 1);
    Value whole = math.create<MergeOp>(type.withElementType(element), math.add(first, second),
                                       op.getDimAttr());
    return math.cast(whole, type.getElementType());
  }

private:
  /// A dimension derived from the rotated dimension.
  DimAttr getDerivedDim(StringRef suffix, int64_t derivedSize) {
    MLIRContext *context = op.getContext();
    StringRef dim = op.getDim();
    return DimAttr::get(context, StringAttr::get(context, dim + suffix), derivedSize);
  }

  /// The type of the operand with its rotated dimension split into pairs and `side` of a pair.
  NamedTensorType getSplitType(Type element, DimAttr side) {
    SmallVector<DimAttr> dims;
    for (DimAttr dim : type.getDims())
      if (dim.getName() != op.getDimAttr())
        dims.push_back(dim);
      else if (op.getInterleaved())
        dims.append({pair, side});
      else
        dims.append({side, pair});
    return NamedTensorType::get(element, dims);
  }

  Value slice(Value pairs, int64_t index) {
    return math.create<SliceOp>(getSplitType(getTensorType(pairs).getElementType(), one), pairs,
                                two.getName().getValue(), index);
  }
  Value pad(Value half, int64_t index) {
    return math.create<PadOp>(getSplitType(getTensorType(half).getElementType(), two), half,
                              two.getName().getValue(), index);
  }

  Value getIndices(DimAttr dim) {
    Type integer = IntegerType::get(op.getContext(), 64);
    return math.create<IotaOp>(NamedTensorType::get(integer, dim));
  }

  /// Radians by position and pair. In f64, because a position times an angle in f32 has an error of
  /// 1e-3 at 10,000.
  Value getAngles() {
    Type f64 = Float64Type::get(op.getContext());
    Value position = getIndices(type.getDims()[type.findDimIndex(op.getAlongAttr())]);
    if (op.getStart())
      position = math.add(position, op.getStart());
    return math.mul(math.cast(position, f64), getFrequencies(f64));
  }

  Value getFrequencies(Type f64) {
    Value index = getIndices(pair);
    if (op.getTheta()) {
      double slope =
          -std::log(op.getTheta()->convertToDouble()) / static_cast<double>(pair.getSize());
      Value exponent = math.scale(math.cast(index, f64), slope);
      return math.create<ExpOp>(exponent);
    }
    Value frequencies = math.zeros(NamedTensorType::get(f64, pair));
    for (auto [i, frequency] : llvm::enumerate(*op.getFrequencies())) {
      Value isHere =
          math.compare(ComparePredicate::EQ, index, math.constant(static_cast<double>(i), index));
      frequencies = math.select(isHere, math.constant(frequency, frequencies), frequencies);
    }
    return frequencies;
  }

  RotaryOp op;
  TensorBuilder math;
  NamedTensorType type;
  int64_t size;           ///< of the rotated dimension
  DimAttr pair, two, one; ///< the pairs, the two elements of a pair, one of them
};

struct RotaryModel : DecomposableOpInterface::ExternalModel<RotaryModel, RotaryOp> {
  SmallVector<Value> decompose(Operation *op, OpBuilder &builder) const {
    return {Rotation(cast<RotaryOp>(op), builder).build()};
  }
};

} // namespace

void titan::ir::attachRotaryDecomposition(MLIRContext &context) {
  RotaryOp::attachInterface<RotaryModel>(context);
}
