// Tests of rounding to element types.

#include "compiler/interpreter/Rounding.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>

using namespace titan::interpreter;
using ::testing::ElementsAre;

namespace {

class Rounding : public ::testing::Test {
protected:
  std::vector<double> round(mlir::Type type, std::vector<double> values) {
    roundTo(type, values);
    return values;
  }
  mlir::MLIRContext context;
  mlir::Builder builder{&context};
};

// bf16 has 8 significant bits: ties go to even, large values overflow to infinity.
TEST_F(Rounding, BFloat16) {
  double ulp = 0x1p-7, infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(round(builder.getBF16Type(), {1 + ulp / 2, 1 + 3 * ulp / 2, 1 + 0.6 * ulp, -1 - ulp}),
              ElementsAre(1, 1 + 2 * ulp, 1 + ulp, -1 - ulp));
  EXPECT_THAT(round(builder.getBF16Type(), {3.4e38, -infinity}), ElementsAre(infinity, -infinity));
  EXPECT_TRUE(std::isnan(round(builder.getBF16Type(), {NAN})[0]));
}

// f32 rounds; f64 and integers stay unchanged.
TEST_F(Rounding, Others) {
  EXPECT_THAT(round(builder.getF32Type(), {0.1}), ElementsAre(0.1f));
  EXPECT_THAT(round(builder.getF64Type(), {0.1}), ElementsAre(0.1));
  EXPECT_THAT(round(builder.getI64Type(), {9007199254740991.0}), ElementsAre(9007199254740991.0));
}

} // namespace
