// The pass --titan-verify-model-phase: verifies the properties that hold after the phase.

#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANVERIFYMODELPHASE
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {
/// The first occurrence of a parameter; the others must equal it.
struct Parameter {
  func::FuncOp function;
  unsigned index;
};
using Parameters = llvm::StringMap<Parameter>;
} // namespace

/// (M1) One role for an argument.
static LogicalResult verifyRole(func::FuncOp function, unsigned index) {
  unsigned roles = 0;
  for (StringRef role : {attr::kInput, attr::kParam, attr::kScalar, attr::kCache})
    roles += bool(function.getArgAttr(index, role));
  if (function.getArgAttr(index, attr::kState))
    return function.emitOpError("(M1) argument ") << index << " has `titan.state` already";
  if (roles != 1)
    return function.emitOpError("(M1) argument ")
           << index << " has " << roles << " roles, expected 1";
  return success();
}

/// (M3) The parameter equals its first occurrence, in another program.
static LogicalResult verifySame(func::FuncOp function, unsigned index, Parameter first,
                                StringRef name) {
  auto complain = [&](StringRef what) {
    InFlightDiagnostic error = function.emitOpError("(M3) parameter \"")
                               << name << "\" has another " << what << " than in @"
                               << first.function.getName();
    error.attachNote(first.function.getLoc()) << "there it is argument " << first.index;
    return error;
  };
  func::FuncOp other = first.function;
  if (function.getArgument(index).getType() != other.getArgument(first.index).getType())
    return complain("type");
  for (StringRef key : {attr::kInit, attr::kFrozen, attr::kBuffer, attr::kStacked})
    if (function.getArgAttr(index, key) != other.getArgAttr(first.index, key))
      return complain(key);
  return success();
}

/// (M1) to (M3) for one program.
static LogicalResult verifyArguments(func::FuncOp function, Parameters &parameters) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (failed(verifyRole(function, i)))
      return failure();
    auto name = function.getArgAttrOfType<StringAttr>(i, attr::kParam);
    if (!name)
      continue;
    if (!names.insert(name.getValue()).second)
      return function.emitOpError("(M2) has two parameters ") << name;
    if (!function.getArgAttr(i, attr::kInit))
      return function.emitOpError("(M2) parameter ") << name << " has no `" << attr::kInit << '`';
    auto [first, isNew] = parameters.try_emplace(name.getValue(), Parameter{function, i});
    if (!isNew && failed(verifySame(function, i, first->second, name.getValue())))
      return failure();
  }
  return success();
}

/// (M4) One result that is no next value of a buffer.
static LogicalResult verifyReported(func::FuncOp function, unsigned index,
                                    llvm::StringSet<> &names) {
  auto role = function.getResultAttrOfType<StringAttr>(index, attr::kOutput);
  if (!role || (!isLossOutput(role.getValue()) && !isMetricOutput(role.getValue())))
    return function.emitOpError(
               "(M4) has a result that is neither a loss nor a metric nor the next "
               "value of a buffer: ")
           << index;
  if (!names.insert(role.getValue()).second)
    return function.emitOpError("(M4) has two results ") << attr::kOutput << " = " << role;
  auto type = dyn_cast<NamedTensorType>(function.getResultTypes()[index]);
  if (!type || !type.getDims().empty() || !isa<FloatType>(type.getElementType()))
    return function.emitOpError("(M4) has the output ")
           << role << " of type " << function.getResultTypes()[index]
           << ", expected a floating-point scalar";
  return success();
}

/// (M4) and (M5).
static LogicalResult verifyTraining(func::FuncOp function) {
  llvm::StringSet<> losses;
  for (unsigned r = 0; r < function.getNumResults(); ++r)
    if (!function.getResultAttr(r, attr::kUpdates) && failed(verifyReported(function, r, losses)))
      return failure();
  if (!losses.contains("loss"))
    return function.emitOpError("(M4) has no result ") << attr::kOutput << " = \"loss\"";
  auto isBuffer = [&](unsigned i) { return bool(function.getArgAttr(i, attr::kBuffer)); };
  if (failed(verifyUpdates(function, "M4", isBuffer)))
    return failure();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isTrained(function, i) && !function.getArgAttr(i, attr::kUpdatedBy))
      return function.emitOpError("(M5) parameter ")
             << function.getArgAttr(i, attr::kParam) << " has no `" << attr::kUpdatedBy << '`';
  return success();
}

/// (M6) No type has a sharding.
static LogicalResult verifyUnsharded(Operation *op) {
  auto isSharded = [](Type type) {
    auto tensor = dyn_cast<NamedTensorType>(type);
    return tensor && tensor.getSharding();
  };
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), isSharded))
        return op->emitOpError("(M6) takes a tensor with a sharding");
  if (llvm::any_of(op->getResultTypes(), isSharded))
    return op->emitOpError("(M6) gives a tensor with a sharding");
  return success();
}

static void printSize(llvm::raw_ostream &text, DimAttr dim) {
  text << dim.getName().getValue() << " = " << dim.getSize();
}

/// (M7) An index counts all elements of a value exactly. Users meet this rule where they select a
/// tensor per row and the row is not contracted with it at once.
static LogicalResult verifyCountable(Value value) {
  auto type = dyn_cast<NamedTensorType>(value.getType());
  if (!type)
    return success();
  double count = 1;
  for (DimAttr dim : type.getDims())
    count *= static_cast<double>(dim.getSize());
  std::string repeats;
  llvm::raw_string_ostream text(repeats);
  for (Operation *op = value.getParentBlock()->getParentOp(); op; op = op->getParentOp())
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      count *= static_cast<double>(repeat.getDim().getSize());
      text << (repeats.empty() ? " in repeats of " : " x ");
      printSize(text, repeat.getDim());
    }
  if (count <= 0x1p53)
    return success();
  std::string sizes;
  llvm::raw_string_ostream list(sizes);
  llvm::interleaveComma(type.getDims(), list, [&](DimAttr dim) { printSize(list, dim); });
  return emitError(value.getLoc())
         << "(M7) a tensor with [" << sizes << "]" << repeats << " has over 2**53 elements";
}

static LogicalResult verifyResults(Operation *op) {
  if (failed(verifyUnsharded(op)))
    return failure();
  for (Value result : op->getResults())
    if (failed(verifyCountable(result)))
      return failure();
  return success();
}

namespace {
struct VerifyModelPhase : titan::ir::impl::TitanVerifyModelPhaseBase<VerifyModelPhase> {
  LogicalResult verify() {
    Parameters parameters;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
      if (!program || function.isExternal())
        continue;
      if (failed(verifyArguments(function, parameters)))
        return failure();
      if (program.getValue() == "train" && failed(verifyTraining(function)))
        return failure();
    }
    WalkResult walk =
        getOperation().walk([](Operation *op) -> WalkResult { return verifyResults(op); });
    return failure(walk.wasInterrupted());
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verify()))
      signalPassFailure();
  }
};
} // namespace
