// The values that an operation reads.

#include "dialects/titan/Support/ReadValues.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

llvm::SetVector<Value> titan::ir::getReadValues(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read;
}
