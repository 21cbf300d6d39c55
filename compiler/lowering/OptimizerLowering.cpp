#include "compiler/lowering/OptimizerLowering.h"
#include "compiler/lowering/OpLowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace titan::lowering {
namespace {

/// The role of an input. Declared arguments precede states.
NamedAttribute buildRole(size_t index, const sema::Updates::Function &function,
                         OpBuilder &builder) {
  auto text = [&](StringRef key, StringRef value) {
    return builder.getNamedAttr(key, builder.getStringAttr(value));
  };
  if (index >= function.argumentCount)
    return text(ir::attr::kState, function.model.inputs[index].name);
  constexpr StringLiteral names[sema::optimizerArguments] = {"parameter", "gradient", "lr", "step"};
  return text(index < 2 ? ir::attr::kOperand : ir::attr::kScalar, names[index]);
}

func::FuncOp lowerOptimizer(const sema::Updates::Function &function, StringRef name,
                            const SourceManager &sources, OpBuilder &builder) {
  const sema::Model &model = function.model;
  Translation translation(model, sources, builder.getContext());
  SmallVector<Type> arguments, results;
  SmallVector<DictionaryAttr> roles;
  for (auto [i, input] : llvm::enumerate(model.inputs)) {
    arguments.push_back(translation.type(input.type));
    roles.push_back(builder.getDictionaryAttr(buildRole(i, function, builder)));
  }
  // Results are the next values of the parameter, then of the states.
  auto getReplacedArgument = [&](size_t r) { return r == 0 ? 0 : function.argumentCount + r - 1; };
  std::vector<sema::ValueId> roots;
  for (auto [r, output] : llvm::enumerate(model.outputs)) {
    roots.push_back(output.value);
    results.push_back(arguments[getReplacedArgument(r)]);
  }
  auto func = func::FuncOp::create(translation.loc(model.loc, name), name,
                                   builder.getFunctionType(arguments, results));
  func.setPrivate();
  func->setAttr(ir::attr::kOptimizer, builder.getUnitAttr());
  func.setAllArgAttrs(roles);
  for (unsigned r = 0; r < func.getNumResults(); ++r)
    func.setResultAttr(r, ir::attr::kUpdates,
                       builder.getI64IntegerAttr(static_cast<int64_t>(getReplacedArgument(r))));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = func.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  sema::Reachability needs(model, roots);
  OpLowering ops(translation, model, needs, builder);
  for (auto [i, input] : llvm::enumerate(model.inputs)) {
    block->getArgument(i).setLoc(translation.loc(input.loc, input.name));
    ops.inputs[i] = block->getArgument(i);
  }
  ops.lower(model.body);
  SmallVector<Value> returned;
  for (auto [output, type] : llvm::zip_equal(model.outputs, results))
    returned.push_back(
        ops.reorderDims(ops[output.value], cast<ir::NamedTensorType>(type), func.getLoc()));
  builder.create<func::ReturnOp>(func.getLoc(), returned);
  return func;
}

} // namespace

SmallVector<Attribute> lowerOptimizers(const sema::Updates &updates, const SourceManager &sources,
                                       OpBuilder &builder) {
  SmallVector<Attribute> symbols;
  llvm::StringMap<unsigned> counts;
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  for (const sema::Updates::Function &function : updates.functions) {
    std::string name = "optimizer." + function.model.name;
    if (unsigned earlier = counts[function.model.name]++)
      name += "." + std::to_string(earlier);
    module.push_back(lowerOptimizer(function, name, sources, builder));
    symbols.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  return symbols;
}

} // namespace titan::lowering
