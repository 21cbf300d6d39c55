// Passes that break programs.
//
// A plugin for --load-pass-plugin. After the shard phase, each pass breaks one reduction over
// ranks; `fail` fails in several ways. Tests show which checks find the fault. The plugin also has
// an operation that states less than its trait requires.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <cstdlib>

using namespace mlir;
using namespace titan;

namespace {

bool isReduction(Operation *op) {
  return isa<dist::AllReduceOp, dist::ReduceScatterOp>(op);
}

/// Breaks one value of reduction `index` of the training step, counted in the order of the module.
template <typename Derived> struct FaultPass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  FaultPass() = default;
  FaultPass(const FaultPass &other) : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}

  void runOnOperation() final {
    SmallVector<Operation *> reductions;
    this->getOperation().walk([&](Operation *op) {
      auto program = op->getParentOfType<func::FuncOp>();
      if (isReduction(op) && program && program.getName().starts_with("train"))
        reductions.push_back(op);
    });
    if (index >= reductions.size() || value >= reductions[index]->getNumResults()) {
      this->getOperation().emitError("the step has no such reduction");
      return this->signalPassFailure();
    }
    static_cast<Derived *>(this)->breakReduction(reductions[index]);
  }

  Pass::Option<unsigned> index{*this, "index", llvm::cl::desc("which reduction"),
                               llvm::cl::init(0)};
  Pass::Option<unsigned> value{*this, "value", llvm::cl::desc("which of its values"),
                               llvm::cl::init(0)};
};

/// Each rank continues with its own term instead of the sum.
struct DropReduction : FaultPass<DropReduction> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropReduction)
  StringRef getArgument() const final { return "drop-reduction"; }
  StringRef getDescription() const final { return "leave out a reduction over ranks"; }

  void breakReduction(Operation *op) {
    op->setAttr(dist::kDroppedAttr, Builder(op).getI64IntegerAttr(value));
  }
};

/// Removes the operation, so that its users read values of another sharding.
struct RemoveReduction : FaultPass<RemoveReduction> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RemoveReduction)
  StringRef getArgument() const final { return "remove-reduction"; }
  StringRef getDescription() const final { return "remove a reduction over ranks"; }

  void breakReduction(Operation *op) {
    op->getResult(value).replaceAllUsesWith(op->getOperand(value));
  }
};

/// Fails, remarks or crashes.
struct Fail : PassWrapper<Fail, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Fail)
  Fail() = default;
  Fail(const Fail &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "fail"; }
  StringRef getDescription() const final { return "fail in the way of an option"; }

  void runOnOperation() final {
    if (how == "silently")
      return signalPassFailure();
    if (how == "crash")
      std::abort();
    getOperation().walk([](func::FuncOp function) {
      if (function.getName() == "train")
        function.emitRemark("is a program");
    });
  }

  Option<std::string> how{*this, "how", llvm::cl::desc("silently, crash or remark")};
};

/// Elementwise, but without the formula of an element.
class FormlessOp : public Op<FormlessOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                             OpTrait::ZeroSuccessors, OpTrait::OneOperand, titan::ir::Elementwise> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormlessOp)
  using Op::Op;
  static StringRef getOperationName() { return "faults.formless"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

class FaultsDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FaultsDialect)
  explicit FaultsDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<FaultsDialect>()) {
    addOperations<FormlessOp>();
  }
  static StringRef getDialectNamespace() { return "faults"; }
};

/// Doubles the sum, which is the result of a second reduction over two ranks.
struct RepeatReduction : FaultPass<RepeatReduction> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RepeatReduction)
  StringRef getArgument() const final { return "repeat-reduction"; }
  StringRef getDescription() const final { return "reduce a sum over two ranks twice"; }

  void breakReduction(Operation *op) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Value sum = op->getResult(value);
    auto twice = builder.create<ir::AddOp>(op->getLoc(), sum.getType(), sum, sum);
    sum.replaceAllUsesExcept(twice, twice);
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "titan-faults", "1.0", [] {
            PassRegistration<DropReduction>();
            PassRegistration<RepeatReduction>();
            PassRegistration<RemoveReduction>();
            PassRegistration<Fail>();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "titan-faults", "1.0",
          [](DialectRegistry *registry) { registry->insert<FaultsDialect>(); }};
}
