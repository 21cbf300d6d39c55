// Compares operations on padded dimensions with the same operations without padding.

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Padding.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Support/RunSettings.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Programs.h"
#include "tests/ops/Run.h"
#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::RankMesh;
using ir::NamedTensorType;

namespace {
/// The contents of the padding of floating-point operands.
enum class Filling {
  Zero, ///< the padding of a function's arguments
  Half, ///< all elements are 0.5 larger, so that no analysis knows the padding to be 0
  NotANumber,
  Hidden ///< NaN that a select chooses: a product with infinity, only where that is NaN
};
} // namespace

/// The value with this filling in elements that are 0.
static Value disturb(OpBuilder &b, Value value, Filling filling) {
  Location loc = b.getUnknownLoc();
  auto type = cast<NamedTensorType>(value.getType());
  auto constant = [&](double number) -> Value {
    return b.create<ir::ConstantOp>(loc, NamedTensorType::get(type.getElementType(), {}), number);
  };
  if (filling == Filling::Half)
    return b.create<ir::AddOp>(loc, type, value, constant(0.5));
  if (filling == Filling::NotANumber) {
    Value one = b.create<ir::DivOp>(loc, type, value, value);
    return b.create<ir::MulOp>(loc, type, value, one);
  }
  Value product = b.create<ir::MulOp>(loc, type, value, constant(INFINITY));
  Value isNan = b.create<ir::CompareOp>(loc, type.withElementType(b.getI1Type()),
                                        ir::ComparePredicate::NE, product, product);
  return b.create<ir::SelectOp>(loc, type, isNan, product, value);
}

/// Changes the padding of all floating-point operands, and leaves other elements alone, except that
/// Half is added to all. Other elements that are 0 become NaN, too; such a case is not checked.
static void disturb(func::FuncOp function, Filling filling) {
  OpBuilder b(function.getBody());
  for (BlockArgument argument : function.getArguments()) {
    if (!isReal(cast<NamedTensorType>(argument.getType())))
      continue;
    auto uses = llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    Value disturbed = disturb(b, argument, filling);
    for (OpOperand *use : uses)
      use->set(disturbed);
  }
}

static OwningOpRef<ModuleOp> build(MLIRContext *context, const Case &c, Filling filling,
                                   ArrayRef<int64_t> mesh) {
  OwningOpRef<ModuleOp> module = makeModule(context, mesh);
  std::vector<NamedTensorType> operands;
  for (const Tensor &operand : c.operands)
    operands.push_back(operand.type);
  func::FuncOp function = addFunction(*module, c, operands, c.results);
  if (filling != Filling::Zero)
    disturb(function, filling);
  return module;
}

/// The smallest degree that does not divide `size`.
static int64_t getUnevenDegree(int64_t size) {
  int64_t degree = 2;
  while (size % degree == 0)
    ++degree;
  return degree;
}

/// Runs the case on a mesh axis that pads `names`, after the shard phase.
static LogicalResult check(MLIRContext *context, const Case &c, Filling filling, int64_t degree,
                           ArrayRef<StringRef> names, const std::vector<ir::HostTensor> &expected) {
  OwningOpRef<ModuleOp> module = build(context, c, filling, {degree});
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  ArrayAttr none = b.getArrayAttr({}), padded = b.getStrArrayAttr(names);
  b.create<dist::AxisRulesOp>(b.getUnknownLoc(), "x", padded, none, none, padded);
  PassManager manager(context);
  dist::buildShardPhase(manager, RunSettings());
  RankMesh mesh(dist::MeshOp::lookup(*module), 1);
  if (succeeded(manager.run(*module))) {
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    Case longer = c;
    for (auto [argument, operand] : llvm::zip_equal(function.getArguments(), longer.operands)) {
      auto shape = cast<NamedTensorType>(argument.getType()).getShape();
      operand.values =
          interpreter::addPadding({operand.type.getShape(), operand.values}, shape).data;
    }
    if (auto results = ops::run(function, mesh, longer); succeeded(results))
      if (succeeded(compare(function, *results, expected)))
        return success();
  }
  llvm::errs() << "the operation that was padded:\n" << *module << '\n';
  return failure();
}

bool ops::checkPadding(MLIRContext *context, const Case &c, Counts &counts) {
  for (Filling filling : {Filling::Zero, Filling::Half, Filling::NotANumber, Filling::Hidden}) {
    OwningOpRef<ModuleOp> whole = build(context, c, filling, {});
    func::FuncOp function = *whole->getOps<func::FuncOp>().begin();
    Operation *op = function.getBody().front().getTerminator()->getPrevNode();
    auto expected = ops::run(function, RankMesh(nullptr, 1), c);
    if (failed(expected) || !isFinite(*expected))
      continue; // checkShardings covers the case itself
    SmallVector<std::string> names;
    for (const dist::Factor &factor :
         cast<ir::ShardingRuleOpInterface>(op).getShardingRule().factors)
      if (factor.size > 1 && !llvm::is_contained(names, factor.name))
        names.push_back(factor.name);
    auto all = llvm::map_to_vector(names, [](const std::string &name) { return StringRef(name); });
    for (int64_t degree : {2, 3})
      if (!all.empty() &&
          (++counts.paddings, failed(::check(context, c, filling, degree, all, *expected))))
        return false;
    for (const dist::Factor &factor :
         cast<ir::ShardingRuleOpInterface>(op).getShardingRule().factors)
      if (factor.size > 1 &&
          (++counts.paddings, failed(::check(context, c, filling, getUnevenDegree(factor.size),
                                             StringRef(factor.name), *expected))))
        return false;
  }
  return true;
}
