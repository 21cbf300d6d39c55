// Tests of the tensor arithmetic builder.

#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/registration/RegisterAll.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace titan::ir;

namespace {

class TensorBuilderTest : public testing::Test {
protected:
  TensorBuilderTest() : context(makeRegistry()), ops(&context), loc(UnknownLoc::get(&context)) {
    context.loadDialect<TitanDialect>();
    module = ModuleOp::create(loc);
    ops.setInsertionPointToStart(module->getBody());
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    titan::registerDialects(registry);
    return registry;
  }

  DimAttr dim(StringRef name, int64_t size) {
    return DimAttr::get(&context, ops.getStringAttr(name), size);
  }
  NamedTensorType type(ArrayRef<DimAttr> dims) {
    return NamedTensorType::get(ops.getF64Type(), dims);
  }
  Value value(NamedTensorType type) { return TensorBuilder(ops, loc).zeros(type); }

  MLIRContext context;
  OpBuilder ops;
  Location loc;
  OwningOpRef<ModuleOp> module;
};

// The type with more dimensions determines the order; the other's own dimensions follow.
TEST_F(TensorBuilderTest, JoinsByName) {
  DimAttr a = dim("a", 2), b = dim("b", 3), c = dim("c", 4);
  EXPECT_EQ(joinTypes(type({a}), type({b, a})), type({b, a}));
  EXPECT_EQ(joinTypes(type({a, b}), type({b, a})), type({a, b}));
  EXPECT_EQ(joinTypes(type({a, b}), type({c, b})), type({a, b, c}));
}

// A product has the dimensions of both factors.
TEST_F(TensorBuilderTest, JoinsFactors) {
  TensorBuilder build(ops, loc);
  Value x = value(type({dim("a", 2)}));
  Value one = build.fitTo(build.constant(1, x), type({dim("b", 3)}));
  Value product = build.mul(one, x);
  EXPECT_EQ(product.getType(), type({dim("b", 3), dim("a", 2)}));
}

// A value is summed over dimensions that the type lacks, then expanded along those that it lacks.
TEST_F(TensorBuilderTest, FitsToAType) {
  TensorBuilder build(ops, loc);
  DimAttr a = dim("a", 2), b = dim("b", 3), c = dim("c", 4);
  auto expand = build.fitTo(value(type({a, b})), type({c, b})).getDefiningOp<ExpandOp>();
  ASSERT_TRUE(expand);
  auto reduce = expand.getInput().getDefiningOp<ReduceOp>();
  ASSERT_TRUE(reduce);
  EXPECT_EQ(reduce.getResult().getType(), type({b}));
}

// A value of the right type stays unchanged; another order of dimensions is transposed.
TEST_F(TensorBuilderTest, FitsOrder) {
  TensorBuilder build(ops, loc);
  DimAttr a = dim("a", 2), b = dim("b", 3);
  Value x = value(type({a, b}));
  EXPECT_EQ(build.fitTo(x, type({a, b})), x);
  EXPECT_EQ(build.fitTo(x, type({b, a})).getType(), type({b, a}));
}

// Gradients have the name of their value and the line of the operation.
TEST_F(TensorBuilderTest, NamesGradients) {
  Location line = FileLineColLoc::get(&context, "m.titan", 3, 1);
  OpBuilder at(ops);
  auto named = NameLoc::get(ops.getStringAttr("h"), line);
  Value h = at.create<ConstantOp>(named, type({}), 0.0);
  Location expected = NameLoc::get(ops.getStringAttr("d_h"), line);
  EXPECT_EQ(getGradientLoc(named, h), expected);
}

} // namespace
