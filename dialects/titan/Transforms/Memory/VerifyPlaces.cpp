//===- VerifyPlaces.cpp - Whether a plan is whole -------------------------===//
//
// All that emission, the interpreter and the other checks look up is there and of the right kind,
// so that they need not ask. What a plan means is checked in VerifyMemory.cpp.
//
//===----------------------------------------------------------------------===//

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

class PlaceVerifier {
public:
  PlaceVerifier(func::FuncOp function, bool isWhole)
      : function(function), isWhole(isWhole),
        transient(function->getAttrOfType<ArrayAttr>(memory::kBuffers)),
        persistent(
            function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent)) {}

  LogicalResult run();

private:
  LogicalResult verifyBuffers(ArrayAttr buffers, StringRef name);
  LogicalResult verifyOp(Operation *op);
  /// The attribute `name` of `op` is a list of `count` places.
  LogicalResult verifyList(Operation *op, StringRef name, size_t count, size_t depth);
  LogicalResult verifyPlace(Operation *op, StringRef name, Attribute place, size_t depth);
  bool hasSlots(Operation *op, PlaceAttr place, size_t depth);

  func::FuncOp function;
  bool isWhole; ///< nothing may be missing
  ArrayAttr transient, persistent;
};

} // namespace

LogicalResult PlaceVerifier::verifyBuffers(ArrayAttr buffers, StringRef name) {
  auto isBuffer = [](Attribute attribute) {
    auto buffer = dyn_cast<BufferAttr>(attribute);
    return buffer && isa<NamedTensorType>(buffer.getType());
  };
  if (buffers ? llvm::all_of(buffers, isBuffer) : !isWhole && name == memory::kPersistent)
    return success();
  return function.emitError("has no list of buffers of tensors as ")
         << name << "; run --titan-plan-memory first";
}

/// Repeats around `op`, outermost first.
static SmallVector<RepeatOp> getRepeats(Operation *op) {
  SmallVector<RepeatOp> repeats;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto repeat = dyn_cast<RepeatOp>(parent))
      repeats.insert(repeats.begin(), repeat);
  return repeats;
}

/// Whether every level of the allocation belongs to a repeat that encloses `op`, or to `op` itself
/// for the arguments of its body, and names variants of that repeat.
bool PlaceVerifier::hasSlots(Operation *op, PlaceAttr place, size_t depth) {
  SmallVector<RepeatOp> repeats = getRepeats(op);
  if (auto repeat = dyn_cast<RepeatOp>(op))
    repeats.push_back(repeat);
  ArrayAttr users = place.getUsers();
  if (users && users.size() != place.getLevels().size())
    return false;
  for (auto [i, level] : llvm::enumerate(place.getLevels())) {
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

LogicalResult PlaceVerifier::verifyPlace(Operation *op, StringRef name, Attribute attribute,
                                         size_t depth) {
  auto place = dyn_cast<PlaceAttr>(attribute);
  if (place && place.getSpace() == MemorySpace::Inline)
    return success();
  if (place) {
    ArrayAttr buffers = place.getSpace() == MemorySpace::Transient ? transient : persistent;
    auto index = static_cast<uint64_t>(place.getBuffer()); // below 0 is far beyond the last
    if (buffers && index < buffers.size() && hasSlots(op, place, depth))
      return success();
  }
  return op->emitError() << name << " names no buffer that there is: " << attribute;
}

LogicalResult PlaceVerifier::verifyList(Operation *op, StringRef name, size_t count, size_t depth) {
  auto places = op->getAttrOfType<ArrayAttr>(name);
  if (!isWhole && !op->hasAttr(name))
    return success();
  if (!places || places.size() != count)
    return op->emitError("expected ") << count << " places as " << name << ", got "
                                      << (places ? std::to_string(places.size()) : "none")
                                      << "; run --titan-plan-memory first";
  for (Attribute place : places)
    if (failed(verifyPlace(op, name, place, depth)))
      return failure();
  return success();
}

/// As many as PlanScratch.cpp plans: one for each tensor, and one for the threads' memory.
static size_t countScratch(Operation *op) {
  auto needs = dyn_cast<ScratchOpInterface>(op);
  if (!needs)
    return 0;
  auto mesh = dist::MeshOp::lookup(op->getParentOfType<ModuleOp>());
  return needs.getScratchTensors().size() + (needs.getScratchBytes(dist::getDegrees(mesh)) > 0);
}

LogicalResult PlaceVerifier::verifyOp(Operation *op) {
  const size_t depth = getRepeats(op).size();
  if (op->getNumResults() && failed(verifyList(op, memory::kPlaces, op->getNumResults(), depth)))
    return failure();
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    size_t arguments = 0;
    for (Region &body : repeat->getRegions())
      arguments += body.getNumArguments();
    return verifyList(op, memory::kArguments, arguments, depth + 1);
  }
  if (isa<func::ReturnOp>(op))
    return verifyList(op, memory::kArguments, op->getNumOperands(), depth);
  auto scratch = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  const size_t needed = countScratch(op);
  if (!scratch && !(isWhole && needed > 0) && !op->hasAttr(memory::kScratch))
    return success();
  // A collective has a place for each of its values.
  const size_t values = isa<dist::DistDialect>(op->getDialect()) ? op->getNumResults() : needed;
  return verifyList(op, memory::kScratch, scratch ? std::max(scratch.size(), values) : values,
                    depth);
}

LogicalResult PlaceVerifier::run() {
  if (failed(verifyBuffers(transient, memory::kBuffers)) ||
      failed(verifyBuffers(persistent, memory::kPersistent)))
    return failure();
  if (isWhole && !function->getAttrOfType<IntegerAttr>(memory::kEvents))
    return function.emitError("has no number as ") << memory::kEvents;
  if (failed(verifyList(function, memory::kArguments, function.getNumArguments(), 0)))
    return failure();
  WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && failed(verifyOp(op)))
      return WalkResult::interrupt();
    return isa<FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult memory::verifyPlaces(func::FuncOp function, bool isWhole) {
  return PlaceVerifier(function, isWhole).run();
}
