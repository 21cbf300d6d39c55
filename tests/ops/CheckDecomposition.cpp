// Compares composite operations with their decompositions.

#include "compiler/interpreter/Compare.h"
#include "dialects/titan/Decomposition/Decomposition.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Weights.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::Session;

static bool isComposite(MLIRContext *context, const Case &c) {
  return RegisteredOperationName::lookup(c.op, context)
      ->hasInterface<ir::DecomposableOpInterface>();
}

bool ops::checkDecomposition(MLIRContext *context, const Case &c, Draw &draw, Counts &counts) {
  if (!isComposite(context, c))
    return true;
  ++counts.decompositions;
  Weights weights(c, draw);
  OwningOpRef<ModuleOp> whole = differentiate(context, c, weights);
  OwningOpRef<ModuleOp> decomposed = differentiate(context, c, weights, ir::createTitanDecompose());
  if (!whole || !decomposed)
    return false;
  auto a = Session::create(*whole, "train", 1, {}),
       b = Session::create(*decomposed, "train", 1, {});
  if (failed(a) || failed(b) || failed(a->step()) || failed(b->step()))
    return false;
  interpreter::Comparison comparison = interpreter::compareResults(*a, *b);
  const interpreter::Deviation greatest = comparison.getGreatest();
  if (!comparison.deviations.empty() && comparison.missing.empty() && greatest.value <= 1e-12)
    return true;
  llvm::errs() << greatest.role.str() << " of the definition deviates by " << greatest.value << '\n'
               << *decomposed << '\n';
  return false;
}
