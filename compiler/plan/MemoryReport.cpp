#include "compiler/plan/MemoryReport.h"
#include "compiler/support/ArenaPlanner.h"
#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace titan::plan {

/// The runtime aligns buffers to a cache line.
static constexpr int64_t kAlignment = 64;

static int64_t getBytes(ir::BufferAttr buffer, const dist::Degrees &degrees) {
  auto type = cast<ir::NamedTensorType>(buffer.getType());
  int64_t elements = dist::getLocalNumElements(type, degrees);
  if (buffer.getPad())
    elements += dist::getDegreeProduct(buffer.getPad(), degrees);
  return elements * llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

/// The kind of each persistent tensor, by its buffer's name.
static llvm::StringMap<int64_t MemoryReport::*> getKinds(ModuleOp module) {
  llvm::StringMap<int64_t MemoryReport::*> kinds;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (auto name = function.getArgAttrOfType<StringAttr>(i, ir::attr::kParam))
        kinds[name.getValue()] = &MemoryReport::parameters;
      if (auto name = function.getArgAttrOfType<StringAttr>(i, ir::attr::kState))
        kinds[name.getValue()] = &MemoryReport::optimizer;
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto name = function.getResultAttrOfType<StringAttr>(i, ir::attr::kGradient))
        kinds["grad." + name.getValue().str()] = &MemoryReport::gradients;
  }
  return kinds;
}

static int64_t getTransientBytes(func::FuncOp function, const dist::Degrees &degrees) {
  std::vector<support::ArenaItem> items;
  if (auto buffers = function->getAttrOfType<ArrayAttr>(memory::kBuffers))
    for (auto buffer : buffers.getAsRange<ir::BufferAttr>())
      items.push_back({getBytes(buffer, degrees), buffer.getFirst(), buffer.getLast()});
  return support::planArena(items, kAlignment).bytes;
}

MemoryReport reportMemory(ModuleOp module, const dist::Degrees &degrees) {
  MemoryReport report;
  llvm::StringMap<int64_t MemoryReport::*> kinds = getKinds(module);
  if (auto buffers = module->getAttrOfType<ArrayAttr>(memory::kPersistent))
    for (auto buffer : buffers.getAsRange<ir::BufferAttr>()) {
      auto kind = kinds.find(buffer.getName().getValue());
      int64_t bytes = support::alignTo(getBytes(buffer, degrees), kAlignment);
      report.*(kind == kinds.end() ? &MemoryReport::other : kind->second) += bytes;
    }
  for (auto function : module.getOps<func::FuncOp>())
    report.transient = std::max(report.transient, getTransientBytes(function, degrees));
  return report;
}

} // namespace titan::plan
