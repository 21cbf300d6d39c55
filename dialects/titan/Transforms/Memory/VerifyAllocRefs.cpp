// Verifies that a memory plan is complete and well-formed.
//
// Emission, the interpreter and the other verifiers rely on these checks. VerifyMemory.cpp checks
// the semantics of the plan.

#include "dialects/dist/IR/Dist.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

class AllocRefVerifier {
public:
  AllocRefVerifier(func::FuncOp function, bool isComplete)
      : function(function), isComplete(isComplete),
        transient(function->getAttrOfType<ArrayAttr>(memory::kTransient)),
        persistent(
            function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent)) {}

  LogicalResult run();

private:
  LogicalResult verifyAllocations(ArrayAttr allocations, StringRef name);
  LogicalResult verifyOp(Operation *op);
  /// Requires that the attribute `name` of `op` is a list of `count` allocation references.
  LogicalResult verifyList(Operation *op, StringRef name, size_t count, size_t depth);
  LogicalResult verifyRef(Operation *op, StringRef name, Attribute ref, size_t depth);
  bool hasSlots(Operation *op, AllocRefAttr ref, size_t depth);

  func::FuncOp function;
  bool isComplete; ///< reject missing attributes
  ArrayAttr transient, persistent;
};

} // namespace

LogicalResult AllocRefVerifier::verifyAllocations(ArrayAttr allocations, StringRef name) {
  auto isAllocation = [](Attribute attribute) {
    auto allocation = dyn_cast<AllocationAttr>(attribute);
    return allocation && isa<NamedTensorType>(allocation.getType());
  };
  if (allocations ? llvm::all_of(allocations, isAllocation)
                  : !isComplete && name == memory::kPersistent)
    return success();
  return function.emitError("has no list of tensor allocations as ")
         << name << "; run --titan-plan-memory first";
}

/// The repeats that enclose `op`, outermost first.
static SmallVector<RepeatOp> getRepeats(Operation *op) {
  SmallVector<RepeatOp> repeats;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto repeat = dyn_cast<RepeatOp>(parent))
      repeats.insert(repeats.begin(), repeat);
  return repeats;
}

/// True if every level of `ref` is the level of a repeat that encloses `op`, and lists variants of
/// that repeat. For the arguments of a repeat's bodies, `op` is that repeat.
bool AllocRefVerifier::hasSlots(Operation *op, AllocRefAttr ref, size_t depth) {
  SmallVector<RepeatOp> repeats = getRepeats(op);
  if (auto repeat = dyn_cast<RepeatOp>(op))
    repeats.push_back(repeat);
  ArrayAttr users = ref.getUsers();
  if (users && users.size() != ref.getLevels().size())
    return false;
  for (auto [i, level] : llvm::enumerate(ref.getLevels())) {
    if (level < 0 || static_cast<size_t>(level) >= std::min(depth, repeats.size()))
      return false;
    auto list = users ? dyn_cast<DenseI64ArrayAttr>(users[i]) : DenseI64ArrayAttr();
    if (users && !list)
      return false;
    const auto count = static_cast<int64_t>(repeats[level].getNumVariants());
    if (list &&
        llvm::any_of(list.asArrayRef(), [&](int64_t user) { return user < 0 || user >= count; }))
      return false;
  }
  return true;
}

LogicalResult AllocRefVerifier::verifyRef(Operation *op, StringRef name, Attribute attribute,
                                          size_t depth) {
  auto ref = dyn_cast<AllocRefAttr>(attribute);
  if (ref && ref.getSpace() == MemorySpace::Inline)
    return success();
  if (ref) {
    ArrayAttr allocations = ref.getSpace() == MemorySpace::Transient ? transient : persistent;
    auto index = static_cast<uint64_t>(ref.getIndex()); // a negative index becomes a large one
    if (allocations && index < allocations.size() && hasSlots(op, ref, depth))
      return success();
  }
  return op->emitError() << name << " names an unknown allocation: " << attribute;
}

LogicalResult AllocRefVerifier::verifyList(Operation *op, StringRef name, size_t count,
                                           size_t depth) {
  auto refs = op->getAttrOfType<ArrayAttr>(name);
  if (!isComplete && !op->hasAttr(name))
    return success();
  if (!refs || refs.size() != count)
    return op->emitError("expected ")
           << count << " allocations as " << name << ", got "
           << (refs ? std::to_string(refs.size()) : "none") << "; run --titan-plan-memory first";
  for (Attribute ref : refs)
    if (failed(verifyRef(op, name, ref, depth)))
      return failure();
  return success();
}

/// The number of scratch allocations that PlanScratch.cpp plans: one per tensor and one for the
/// threads.
static size_t countScratch(Operation *op) {
  auto needs = dyn_cast<ScratchOpInterface>(op);
  if (!needs)
    return 0;
  auto mesh = dist::MeshOp::lookup(op->getParentOfType<ModuleOp>());
  return needs.getScratchTensors().size() + (needs.getScratchBytes(dist::getDegrees(mesh)) > 0);
}

LogicalResult AllocRefVerifier::verifyOp(Operation *op) {
  const size_t depth = getRepeats(op).size();
  if (op->getNumResults() &&
      failed(verifyList(op, memory::kResultAllocs, op->getNumResults(), depth)))
    return failure();
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    size_t arguments = 0;
    for (Region &body : repeat->getRegions())
      arguments += body.getNumArguments();
    return verifyList(op, memory::kArgumentAllocs, arguments, depth + 1);
  }
  if (isa<func::ReturnOp>(op))
    return verifyList(op, memory::kArgumentAllocs, op->getNumOperands(), depth);
  auto scratch = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  const size_t needed = countScratch(op);
  if (!scratch && !(isComplete && needed > 0) && !op->hasAttr(memory::kScratch))
    return success();
  // A collective has one reference per value.
  const size_t values = isa<dist::DistDialect>(op->getDialect()) ? op->getNumResults() : needed;
  return verifyList(op, memory::kScratch, scratch ? std::max(scratch.size(), values) : values,
                    depth);
}

LogicalResult AllocRefVerifier::run() {
  if (failed(verifyAllocations(transient, memory::kTransient)) ||
      failed(verifyAllocations(persistent, memory::kPersistent)))
    return failure();
  if (isComplete && !function->getAttrOfType<IntegerAttr>(memory::kEvents))
    return function.emitError("has no integer as ") << memory::kEvents;
  if (failed(verifyList(function, memory::kArgumentAllocs, function.getNumArguments(), 0)))
    return failure();
  WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && failed(verifyOp(op)))
      return WalkResult::interrupt();
    return isa<FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult memory::verifyAllocRefs(func::FuncOp function, bool isComplete) {
  return AllocRefVerifier(function, isComplete).run();
}
