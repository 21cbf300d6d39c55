#include "compiler/onnx/Lengths.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Model/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

Positions onnx::getPositions(func::FuncOp program) {
  Positions positions{ir::countPositions(program), 0};
  positions.all = positions.own;
  if (positions.own == 0)
    return positions;
  const StringAttr name = ir::DataDimsAttr::lookup(program).getPositions();
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    auto type = cast<ir::NamedTensorType>(program.getArgumentTypes()[i]);
    if (program.getArgAttr(i, ir::attr::kCache) && type.hasDim(name))
      positions.all = type.getDims()[type.findDimIndex(name)].getSize();
  }
  return positions;
}

LogicalResult onnx::computeChunk(ModuleOp module, int64_t chunk) {
  for (Operation &op : llvm::make_early_inc_range(module.getOps())) {
    auto function = dyn_cast<func::FuncOp>(op);
    const bool isOfGeneration =
        function && llvm::is_contained({StringRef("prefill"), StringRef("decode"),
                                        StringRef(ir::kBatchProgram), StringRef(ir::kAdmitProgram)},
                                       function.getName());
    if (isOfGeneration || isa<dist::DistDialect>(op.getDialect()))
      op.erase();
  }
  PassManager manager(module.getContext());
  ir::TitanAddDecodeOptions options;
  options.prefill = chunk;
  manager.addPass(ir::createTitanAddDecode(options));
  return manager.run(module);
}

/// `model.titan:12: constant`.
static std::string describe(Operation *op) {
  std::string text;
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text = at.getFilename().str() + ":" + std::to_string(at.getLine()) + ": ";
  return text + "`" + op->getName().stripDialect().str() + "`";
}

namespace titan::onnx {

/// Walks through both programs at once.
class LengthComparison {
public:
  LengthComparison(func::FuncOp program, func::FuncOp other, std::string &obstacle)
      : sizes(getPositions(program)), otherSizes(getPositions(other)), obstacle(obstacle) {}

  bool compareArguments(func::FuncOp program, func::FuncOp other) {
    if (program.getNumArguments() != other.getNumArguments())
      return refuse("the arguments differ");
    for (unsigned i = 0; i < program.getNumArguments(); ++i) {
      const Type type = program.getArgumentTypes()[i];
      if (program.getArgAttr(i, ir::attr::kParam) && type != other.getArgumentTypes()[i])
        return refuse("a parameter has the dimension of positions");
      if (!compareTypes(type, other.getArgumentTypes()[i]))
        return refuse("the arguments differ");
    }
    return true;
  }

  bool compareRegions(Region &region, Region &other) {
    if (region.getBlocks().size() != other.getBlocks().size())
      return refuse("the program differs");
    for (auto [block, otherBlock] : llvm::zip_equal(region, other))
      if (!compareBlocks(block, otherBlock))
        return false;
    return true;
  }

  Lengths take() { return std::move(lengths); }

private:
  bool compareBlocks(Block &block, Block &other) {
    if (block.getOperations().size() != other.getOperations().size() ||
        block.getNumArguments() != other.getNumArguments())
      return refuse("the number of operations differs");
    for (auto [value, otherValue] : llvm::zip_equal(block.getArguments(), other.getArguments()))
      if (!compareTypes(value.getType(), otherValue.getType()))
        return refuse("a value of a repeat differs");
    for (auto [op, otherOp] : llvm::zip_equal(block, other))
      if (!compareOperations(op, otherOp))
        return false;
    return true;
  }

  bool compareOperations(Operation &op, Operation &other) {
    if (op.getName() != other.getName() || op.getNumOperands() != other.getNumOperands() ||
        op.getNumRegions() != other.getNumRegions() ||
        op.getAttrDictionary() != other.getAttrDictionary())
      return refuse(describe(&op) + " depends on the number of positions");
    for (auto [type, otherType] : llvm::zip_equal(op.getResultTypes(), other.getResultTypes()))
      if (!compareTypes(type, otherType))
        return refuse(describe(&op) + " has a size that does not follow from that of the inputs");
    for (auto [region, otherRegion] : llvm::zip_equal(op.getRegions(), other.getRegions()))
      if (!compareRegions(region, otherRegion))
        return false;
    return true;
  }

  bool compareTypes(Type type, Type other) {
    auto tensor = cast<ir::NamedTensorType>(type), otherTensor = cast<ir::NamedTensorType>(other);
    return tensor.getElementType() == otherTensor.getElementType() &&
           tensor.getRank() == otherTensor.getRank() &&
           llvm::all_of(llvm::zip_equal(tensor.getDims(), otherTensor.getDims()), [&](auto pair) {
             return compareDims(std::get<0>(pair), std::get<1>(pair));
           });
  }

  /// The size is one number, or follows from one of the numbers of positions.
  bool compareDims(ir::DimAttr dim, ir::DimAttr other) {
    const int64_t difference = dim.getSize() - other.getSize();
    Extent extent{dim.getSize(), {}};
    if (difference == 0)
      ;
    else if (difference == sizes.own - otherSizes.own)
      extent = Extent::of(Symbol::Sequence) + Extent{dim.getSize() - sizes.own, {}};
    else if (difference == sizes.all - otherSizes.all)
      extent = Extent::of(Symbol::Sequence) + Extent::of(Symbol::Past) +
               Extent{dim.getSize() - sizes.all, {}};
    else
      return false;
    const auto [known, isNew] =
        lengths.extents.try_emplace({dim.getName().getAsOpaquePointer(), dim.getSize()}, extent);
    return dim.getName() == other.getName() && (isNew || known->second == extent);
  }

  bool refuse(const std::string &why) {
    if (obstacle.empty())
      obstacle = why;
    return false;
  }

  Positions sizes, otherSizes;
  std::string &obstacle;
  Lengths lengths;
};

} // namespace titan::onnx

FailureOr<Lengths> Lengths::compare(func::FuncOp program, func::FuncOp other,
                                    std::string &obstacle) {
  LengthComparison comparison(program, other, obstacle);
  if (!comparison.compareArguments(program, other) ||
      !comparison.compareRegions(program.getBody(), other.getBody()))
    return failure();
  return comparison.take();
}

Extent Lengths::getExtent(ir::DimAttr dim) const {
  auto found = extents.find({dim.getName().getAsOpaquePointer(), dim.getSize()});
  return found == extents.end() ? Extent{dim.getSize(), {}} : found->second;
}
