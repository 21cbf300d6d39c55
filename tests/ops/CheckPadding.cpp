//===- CheckPadding.cpp - Padded operations compute what others do --------===//

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Padding.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Programs.h"
#include "tests/ops/Run.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::RankMesh;
using ir::NamedTensorType;

namespace {
/// What the padding of real operands holds.
enum class Filling {
  Zero, ///< as arguments have it
  Half, ///< nobody knows it to be 0
  NotANumber
};
} // namespace

/// Brings that into the padding and leaves the other elements as they are, but for Half, which is
/// added to all. Elements that are 0 become no numbers, too: such a case is not checked.
static void disturb(func::FuncOp function, Filling filling) {
  OpBuilder b(function.getBody());
  Location loc = b.getUnknownLoc();
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<NamedTensorType>(argument.getType());
    if (!isReal(type))
      continue;
    Operation *first = nullptr, *last = nullptr;
    if (filling == Filling::Half) {
      first = b.create<ir::ConstantOp>(loc, NamedTensorType::get(type.getElementType(), {}),
                                       b.getF64FloatAttr(0.5));
      last = b.create<ir::AddOp>(loc, type, argument, first->getResult(0));
    } else {
      first = b.create<ir::DivOp>(loc, type, argument, argument);
      last = b.create<ir::MulOp>(loc, type, argument, first->getResult(0));
    }
    argument.replaceUsesWithIf(last->getResult(0), [&](OpOperand &use) {
      return use.getOwner() != first && use.getOwner() != last;
    });
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

/// The smallest number of parts into which so many elements do not go.
static int64_t getUnevenDegree(int64_t size) {
  int64_t degree = 2;
  while (size % degree == 0)
    ++degree;
  return degree;
}

/// The program of the case on a mesh axis that pads `names`, after the shard phase.
static LogicalResult check(MLIRContext *context, const Case &c, Filling filling, int64_t degree,
                           ArrayRef<StringRef> names, const std::vector<ir::HostTensor> &expected) {
  OwningOpRef<ModuleOp> module = build(context, c, filling, {degree});
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  ArrayAttr none = b.getArrayAttr({}), padded = b.getStrArrayAttr(names);
  b.create<dist::AxisRulesOp>(b.getUnknownLoc(), "x", padded, none, none, padded);
  PassManager manager(context);
  dist::buildShardPhase(manager);
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
  for (Filling filling : {Filling::Zero, Filling::Half, Filling::NotANumber}) {
    OwningOpRef<ModuleOp> whole = build(context, c, filling, {});
    func::FuncOp function = *whole->getOps<func::FuncOp>().begin();
    Operation *op = function.getBody().front().getTerminator()->getPrevNode();
    auto expected = ops::run(function, RankMesh(nullptr, 1), c);
    if (failed(expected) || !isFinite(*expected))
      continue; // the case itself is computed by checkShardings
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
