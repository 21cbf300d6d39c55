//===- CollectiveReport.cpp - What a program sends, and why ---------------===//

#include "dialects/dist/Analysis/CollectiveReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static int64_t getBytes(Value value, const Degrees &degrees) {
  auto type = cast<ir::NamedTensorType>(value.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  return getLocalNumElements(type, degrees) * (bits == 1 ? 1 : bits / 8);
}

static int64_t getBytesSent(Operation *op, int64_t ranks, const Degrees &degrees) {
  int64_t in = getBytes(op->getOperand(0), degrees), out = getBytes(op->getResult(0), degrees);
  if (isa<AllGatherOp>(op))
    return in * (ranks - 1);
  if (isa<ReduceScatterOp>(op))
    return out * (ranks - 1);
  if (isa<AllReduceOp>(op))
    return 2 * in * (ranks - 1) / ranks;
  return in * (ranks - 1) / ranks;
}

static void locate(Location location, CollectiveUse &use) {
  if (auto name = location->findInstanceOf<NameLoc>())
    use.value = name.getName().str();
  if (auto place = location->findInstanceOf<FileLineColLoc>()) {
    use.file = place.getFilename().str();
    use.line = place.getLine();
  }
}

std::vector<CollectiveUse> dist::reportCollectives(FunctionOpInterface function,
                                                   const Degrees &degrees) {
  std::vector<CollectiveUse> uses;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp>(op))
      return;
    CollectiveUse use;
    use.kind = op->getName().stripDialect().str();
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    for (auto axis : axes.getAsValueRange<StringAttr>())
      use.axes.push_back(axis.str());
    use.times = ir::countExecutions(op);
    use.bytesSent = getBytesSent(op, getDegreeProduct(axes, degrees), degrees);
    locate(op->getLoc(), use);
    uses.push_back(std::move(use));
  });
  return uses;
}

void dist::printCollectives(llvm::raw_ostream &out, const std::vector<CollectiveUse> &uses) {
  int64_t total = 0;
  for (const CollectiveUse &use : uses) {
    std::string over = llvm::join(use.axes, ", ");
    std::string place = use.file.empty() ? "" : llvm::formatv("{0}:{1}", use.file, use.line).str();
    out << llvm::formatv("{0,-14} over {1,-16} {2,4} x {3,12} bytes  {4} {5}\n", use.kind, over,
                         use.times, use.bytesSent, use.value, place);
    total += use.times * use.bytesSent;
  }
  out << llvm::formatv("{0} collectives; a rank sends {1} bytes a step\n", uses.size(), total);
}
