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

/// 0.5 is added to real operands first: then nobody knows their padding to be 0, and it is not.
static void disturb(func::FuncOp function) {
  OpBuilder b(function.getBody());
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<NamedTensorType>(argument.getType());
    if (!isReal(type))
      continue;
    Value half = b.create<ir::ConstantOp>(
        b.getUnknownLoc(), NamedTensorType::get(type.getElementType(), {}), b.getF64FloatAttr(0.5));
    auto sum = b.create<ir::AddOp>(b.getUnknownLoc(), type, argument, half);
    argument.replaceAllUsesExcept(sum, sum);
  }
}

static OwningOpRef<ModuleOp> build(MLIRContext *context, const Case &c, bool isDisturbed,
                                   ArrayRef<int64_t> mesh) {
  OwningOpRef<ModuleOp> module = makeModule(context, mesh);
  std::vector<NamedTensorType> operands;
  for (const Tensor &operand : c.operands)
    operands.push_back(operand.type);
  func::FuncOp function = addFunction(*module, c, operands, c.results);
  if (isDisturbed)
    disturb(function);
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
static LogicalResult check(MLIRContext *context, const Case &c, bool isDisturbed, int64_t degree,
                           ArrayRef<StringRef> names, const std::vector<ir::HostTensor> &expected) {
  OwningOpRef<ModuleOp> module = build(context, c, isDisturbed, {degree});
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  ArrayAttr none = b.getArrayAttr({}), padded = b.getStrArrayAttr(names);
  b.create<dist::MapOp>(b.getUnknownLoc(), "x", padded, none, none, padded);
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
  for (bool isDisturbed : {false, true}) {
    OwningOpRef<ModuleOp> whole = build(context, c, isDisturbed, {});
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
          (++counts.paddings, failed(::check(context, c, isDisturbed, degree, all, *expected))))
        return false;
    for (const dist::Factor &factor :
         cast<ir::ShardingRuleOpInterface>(op).getShardingRule().factors)
      if (factor.size > 1 &&
          (++counts.paddings, failed(::check(context, c, isDisturbed, getUnevenDegree(factor.size),
                                             StringRef(factor.name), *expected))))
        return false;
  }
  return true;
}
