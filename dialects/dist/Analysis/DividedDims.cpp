// Dimensions that a launch degree must divide.

#include "dialects/dist/Analysis/DividedDims.h"

#include "dialects/dist/IR/AutoAxis.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

SmallVector<DividedDim> dist::findDividedDims(ArrayRef<func::FuncOp> functions, StringAttr axis) {
  llvm::DenseSet<std::pair<Attribute, Attribute>> seen;
  SmallVector<DividedDim> found;
  auto visit = [&](Type type, std::optional<Location> location) {
    auto tensor = dyn_cast<ir::NamedTensorType>(type);
    if (!tensor)
      return;
    ShardingAttr sharding = tensor.getShardingOrReplicated();
    for (auto [i, dim, axes] : llvm::enumerate(tensor.getDims(), sharding.getDimAxes()))
      if (axes.size() > 1 && llvm::is_contained(axes, axis) && seen.insert({dim, axes}).second &&
          location)
        found.push_back({dim, axes, sharding.getHeadTailAxis(i), *location});
  };
  for (func::FuncOp function : functions)
    for (TypeRange types :
         {TypeRange(function.getArgumentTypes()), TypeRange(function.getResultTypes())})
      for (Type type : types)
        visit(type, std::nullopt);
  for (func::FuncOp function : functions)
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Type type : op->getResultTypes())
        visit(type, op->getLoc());
    });
  return found;
}

LogicalResult dist::checkDividedDims(ModuleOp module, const Degrees &degrees) {
  MeshAxisAttr automatic = findAutoAxis(MeshOp::lookup(module));
  if (!automatic)
    return success();
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(ir::attr::kProgram))
      programs.push_back(function);
  for (auto [dim, axes, headTailAxis, location] : findDividedDims(programs, automatic.getName())) {
    // Head-tail order cuts two blocks for each shard (DimShard.h).
    bool isHeadTail = headTailAxis && degrees.lookup(headTailAxis) > 1;
    if (dim.getSize() % (getDegreeProduct(axes, degrees) * (isHeadTail ? 2 : 1)) == 0)
      continue;
    std::string together;
    for (auto axis : axes.getAsRange<StringAttr>())
      together += (together.empty() ? "" : " x ") + axis.getValue().str() + " " +
                  std::to_string(degrees.lookup(axis.getValue()));
    return emitError(location) << "`" << dim.getName().getValue()
                               << "` of a value without operands has " << dim.getSize()
                               << " elements, which cannot be split evenly by " << together
                               << "; start a number of processes that divides it";
  }
  return success();
}
