#include "compiler/plan/MemoryReport.h"
#include "base/arena/ArenaPlanner.h"
#include "base/arena/PersistentLayout.h"
#include "base/kernels/BlasWorkspace.h"
#include "compiler/plan/DeviceWorkspace.h"
#include "compiler/plan/Packing.h"
#include "compiler/plan/PipelineRanks.h"
#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace titan::plan {
namespace {

using TransientKind = int64_t ProgramMemory::*;

/// Reports the transient memory of program functions.
class ProgramReporter {
public:
  ProgramReporter(const dist::Degrees &degrees, int64_t threads)
      : degrees(degrees), threads(threads) {}

  int64_t getBytes(ir::AllocationAttr allocation) const {
    return plan::getBytes(allocation, degrees, threads);
  }
  ProgramMemory report(func::FuncOp function) const;

private:
  int64_t countResiduals(func::FuncOp function) const;

  const dist::Degrees &degrees;
  int64_t threads;
};

/// The use of each transient allocation of a function.
SmallVector<TransientKind> getKinds(func::FuncOp function, ArrayAttr allocations) {
  SmallVector<TransientKind> kinds;
  for (auto allocation : allocations.getAsRange<ir::AllocationAttr>())
    kinds.push_back(allocation.getPer() ? &ProgramMemory::scratch : &ProgramMemory::activations);
  auto mark = [&](Attribute attribute, TransientKind kind) {
    auto ref = cast<ir::AllocRefAttr>(attribute);
    if (ref.getSpace() == ir::MemorySpace::Transient)
      kinds[ref.getIndex()] = kind;
  };
  for (Attribute ref : function->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs))
    mark(ref, &ProgramMemory::inputsOutputs);
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, ref] : llvm::enumerate(end->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs)))
    mark(ref, function.getResultAttr(i, ir::attr::kGradient) ? &ProgramMemory::gradients
                                                             : &ProgramMemory::inputsOutputs);
  return kinds;
}

/// Sets the operation at `event` and its source line.
void setOperation(func::FuncOp function, int64_t event, ProgramMemory &memory) {
  memory::Liveness liveness(function);
  function.walk([&](Operation *op) {
    if (op == function || op->getParentOfType<ir::FusedOp>() || liveness.getStart(op) != event)
      return WalkResult::advance();
    memory.operation = ir::getAction(op);
    if (auto location = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
      memory.file = location.getFilename().str();
      memory.line = location.getLine();
    }
    return WalkResult::interrupt();
  });
}

int64_t ProgramReporter::countResiduals(func::FuncOp function) const {
  llvm::SmallSetVector<Value, 16> residuals;
  function.walk([&](ir::RepeatOp repeat) {
    if (!repeat.getReverse())
      return;
    for (Value input : repeat.getScannedInputs())
      if (input.getDefiningOp<ir::RepeatOp>())
        residuals.insert(input);
  });
  int64_t bytes = 0;
  for (Value residual : residuals) {
    auto type = cast<ir::NamedTensorType>(residual.getType());
    bytes += dist::getLocalNumElements(type, degrees) *
             llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  }
  return bytes;
}

ProgramMemory ProgramReporter::report(func::FuncOp function) const {
  ProgramMemory memory;
  memory.residuals = countResiduals(function);
  memory.program = function->getAttrOfType<StringAttr>(ir::attr::kProgram).str();
  auto allocations = function->getAttrOfType<ArrayAttr>(memory::kTransient);
  std::vector<arena::ArenaItem> items;
  for (auto allocation : allocations.getAsRange<ir::AllocationAttr>())
    items.push_back({getBytes(allocation), allocation.getFirst(), allocation.getLast()});
  std::vector<arena::StackOverlap> stackOverlaps = memory::getStackOverlaps(function);
  memory.bytes = arena::planArena(items, stackOverlaps).bytes;
  auto [most, event, shared] = arena::findPeak(items, stackOverlaps);
  for (auto [item, kind] : llvm::zip_equal(items, getKinds(function, allocations)))
    if (item.first <= event && event <= item.last)
      memory.*kind += arena::alignTo(item.bytes, arena::kArenaAlignment);
  // Consumed stacks are activations; shared bytes count as the produced stacks, mostly gradients.
  memory.activations -= shared;
  setOperation(function, event, memory);
  return memory;
}

/// Bytes of pack buffers for the operands `factor` of a large product.
int64_t getPackingBytes(Type factor, Type result, const Processor &processor) {
  const int64_t threads = processor.threads;
  if (factor.isBF16() && processor.hasTiles)
    return threads * kTilePackingPerThread;
  if (factor.isF32() && processor.hasTiles)
    return kTilePackingOfFloats;
  if (!factor.isF64() && processor.hasVectors)
    return kVectorPacking + threads * kVectorPackingPerThread + (result.isBF16() ? kVectorSums : 0);
  return threads * (factor.isBF16() ? kNarrowPackingPerThread : kPackingPerThread);
}

/// Bytes outside the arena that a contraction needs on a CPU.
int64_t getGemmBytes(ir::ContractOp contract, const dist::Degrees &degrees,
                     const Processor &processor) {
  constexpr double kLarge = 256; // the smallest dimension of products with pack buffers
  // Sums in f32 before their rounding to bf16 (runtime/lib/gemm/GemmBfloat16.cpp).
  constexpr int64_t kMostSums = int64_t{64} << 20;
  auto count = [&](Value value) {
    return dist::getLocalNumElements(cast<ir::NamedTensorType>(value.getType()), degrees);
  };
  int64_t elements = count(contract.getResult());
  auto a = static_cast<double>(count(contract.getLhs())),
       b = static_cast<double>(count(contract.getRhs())), c = static_cast<double>(elements);
  auto getType = [](Value value) {
    return cast<ir::NamedTensorType>(value.getType()).getElementType();
  };
  int64_t bytes = 0;
  // Of m k, k n and m n, two divided by the third are the squares of k, m and n.
  if (std::min({a * b / c, a * c / b, b * c / a}) >= kLarge * kLarge)
    bytes = getPackingBytes(getType(contract.getLhs()), getType(contract.getResult()), processor);
  bool callsBlas = !processor.hasTiles && !processor.hasVectors;
  if (getType(contract.getResult()).isBF16() && callsBlas)
    bytes += std::min<int64_t>(kMostSums, elements * static_cast<int64_t>(sizeof(float)));
  return bytes;
}

/// True if the contraction calls BLAS, which inner products do not (runtime/lib/gemm/Gemm*.cpp).
bool usesBlas(ir::ContractOp contract, const Processor &processor) {
  auto lhs = cast<ir::NamedTensorType>(contract.getLhs().getType()),
       rhs = cast<ir::NamedTensorType>(contract.getRhs().getType());
  auto hasDimBeside = [](ir::NamedTensorType type, ir::NamedTensorType other) {
    return llvm::any_of(type.getDims(),
                        [&](ir::DimAttr dim) { return !other.hasDim(dim.getName()); });
  };
  return (hasDimBeside(lhs, rhs) || hasDimBeside(rhs, lhs)) &&
         (lhs.getElementType().isF64() || !processor.hasVectors);
}

using PersistentKind = int64_t MemoryReport::*;

/// The row of the report that counts an argument; null for scalars.
PersistentKind getPersistentKind(func::FuncOp function, unsigned argument) {
  auto has = [&](StringRef role) { return function.getArgAttr(argument, role) != nullptr; };
  if (has(ir::attr::kParam))
    return has(ir::attr::kBuffer) ? &MemoryReport::buffers : &MemoryReport::parameters;
  if (has(ir::attr::kState))
    return &MemoryReport::optimizer;
  auto scalar = function.getArgAttrOfType<StringAttr>(argument, ir::attr::kScalar);
  if (has(ir::attr::kCache) || (scalar && ir::isGenerationScalar(scalar)))
    return ir::isOfSlots(function, argument) ? &MemoryReport::batchCaches : &MemoryReport::caches;
  if (has(ir::attr::kStash))
    return &MemoryReport::stashes;
  if (has(ir::attr::kInput))
    return &MemoryReport::inputs;
  return has(ir::attr::kStepValue) ? &MemoryReport::stepValues : nullptr;
}

/// The kind of each persistent tensor, by allocation index.
llvm::DenseMap<int64_t, PersistentKind> getPersistentKinds(ModuleOp module) {
  llvm::DenseMap<int64_t, PersistentKind> kinds;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      ir::AllocRefAttr ref = memory::getAllocRef(argument);
      if (!ref || ref.getSpace() != ir::MemorySpace::Persistent)
        continue;
      if (PersistentKind kind = getPersistentKind(function, argument.getArgNumber()))
        kinds[ref.getIndex()] = kind;
    }
  }
  return kinds;
}

/// Adds the bytes per block of an item to those of its bucket.
void addBlocks(MemoryReport &report, const arena::PersistentItem &item, bool isState) {
  auto known = llvm::find_if(
      report.blocks, [&](const StoredBlocks &blocks) { return blocks.name == item.bucket; });
  if (known == report.blocks.end())
    known = report.blocks.insert(known, {item.bucket, item.slots, 0, isState});
  known->bytes += arena::getSlotBytes(item, arena::kArenaAlignment);
}

} // namespace

int64_t getBytes(ir::AllocationAttr allocation, const dist::Degrees &degrees, int64_t threads) {
  auto type = cast<ir::NamedTensorType>(allocation.getType());
  int64_t elements = dist::getLocalNumElements(type, degrees);
  if (allocation.getPad())
    elements += dist::getDegreeProduct(allocation.getPad(), degrees);
  if (allocation.getPer())
    elements *= threads;
  return elements * llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

const ProgramMemory *MemoryReport::find(StringRef program) const {
  for (const ProgramMemory &memory : programs)
    if (memory.program == program)
      return &memory;
  return nullptr;
}

int64_t MemoryReport::getTransient() const {
  int64_t most = 0;
  for (const ProgramMemory &memory : programs)
    if (isOfTraining(memory.program))
      most = std::max(most, memory.bytes);
  return most;
}

namespace {

/// Reports the memory of ranks.
class RankReporter {
public:
  RankReporter(ModuleOp module, const dist::Degrees &degrees, const Processor &processor)
      : module(module), degrees(degrees), processor(processor),
        reporter(degrees, processor.threads), kinds(getPersistentKinds(module)) {}

  MemoryReport report(const pipeline::Pipelines &pipelines) {
    MemoryReport report;
    addPersistent(report, pipelines);
    Packing packing(degrees, /*hasLanes=*/!processor.isCuda);
    bool loadsLibTorch = llvm::any_of(degrees, [](const auto &axis) { return axis.second > 1; });
    for (auto function : module.getOps<func::FuncOp>()) {
      auto name = function->getAttrOfType<StringAttr>(ir::attr::kProgram);
      if (!name || !pipelines.runs(name.str()))
        continue;
      report.programs.push_back(reporter.report(function));
      if (isOfTraining(name))
        packing.add(function);
      if (processor.isCuda) {
        addDeviceWorkspace(report, function);
        continue;
      }
      function.walk([&](ir::ContractOp contract) {
        report.gemmWorkspace =
            std::max(report.gemmWorkspace, getGemmBytes(contract, degrees, processor));
        loadsLibTorch |= usesBlas(contract, processor);
      });
      function.walk([&](ir::GroupedContractOp contract) { // one product for each block of rows
        Type factor = contract.getLhs().getType().getElementType();
        report.gemmWorkspace = std::max(
            report.gemmWorkspace,
            getPackingBytes(factor, contract.getResult().getType().getElementType(), processor));
        loadsLibTorch |= factor.isF64() || !processor.hasVectors;
      });
    }
    report.packing = packing.getBytes();
    if (loadsLibTorch)
      report.libraries = kLibrariesWithLibTorch;
    return report;
  }

private:
  void addDeviceWorkspace(MemoryReport &report, func::FuncOp function) const {
    function.walk([&](Operation *op) {
      if (isa<ir::ContractOp, ir::GroupedContractOp>(op))
        report.gemmWorkspace = kBlasWorkspaceBytes;
      report.flashAttention = std::max(report.flashAttention, getFlashWorkspace(op, degrees));
    });
  }

  void addPersistent(MemoryReport &report, const pipeline::Pipelines &pipelines) {
    auto allocations = module->getAttrOfType<ArrayAttr>(memory::kPersistent);
    for (auto [number, allocation] :
         llvm::enumerate(allocations.getAsRange<ir::AllocationAttr>())) {
      int64_t copies = pipelines.getNumCopies(number);
      if (copies == 0)
        continue;
      PersistentKind kind = kinds.lookup(number);
      // As the program lays out copies (runtime/lib/state/Arena.cpp).
      int64_t bytes = reporter.getBytes(allocation),
              stride = pipelines.isPacked(number) ? bytes
                                                  : arena::alignTo(bytes, arena::kArenaAlignment);
      arena::PersistentItem item =
          memory::getPersistentItem(allocation, (copies - 1) * stride + bytes);
      if (allocation.getBucket())
        addBlocks(report, item, kind == &MemoryReport::optimizer);
      if (memory::isOnHost(allocation))
        kind = kind == &MemoryReport::optimizer ? &MemoryReport::optimizerOnHost
                                                : &MemoryReport::parametersOnHost;
      report.*(kind ? kind : &MemoryReport::scalars) += arena::getPersistentBytes(item);
    }
  }

  ModuleOp module;
  const dist::Degrees &degrees;
  const Processor &processor;
  ProgramReporter reporter;
  llvm::DenseMap<int64_t, PersistentKind> kinds;
};

} // namespace

std::vector<MemoryReport> reportMemory(ModuleOp module, const dist::Degrees &degrees,
                                       const Processor &processor,
                                       const std::vector<pipeline::Pipelines> &ranks) {
  RankReporter reporter(module, degrees, processor);
  std::vector<MemoryReport> reports;
  for (const pipeline::Pipelines &rank : ranks)
    reports.push_back(reporter.report(rank));
  return reports;
}

} // namespace titan::plan
