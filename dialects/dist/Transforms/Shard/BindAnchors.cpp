//===- BindAnchors.cpp - The user's map applied to what the user declared -===//

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/TensorMaps.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorAttributes.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTBINDANCHORS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

namespace {

/// What a function's argument or result is, as its attributes say.
struct Role {
  StringRef stored;    ///< "params", "grads", "optimizer", or empty
  int64_t stacked = 0; ///< leading dimensions that are iterations
  bool isOutput = false;
  TensorName tensor;
};

StringRef getString(DictionaryAttr attributes, StringRef name) {
  auto text = attributes.getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

Role getRole(DictionaryAttr attributes) {
  Role role;
  if (!attributes)
    return role;
  role.stacked = ir::getStackedLevels(attributes.get(ir::attr::kStacked));
  role.isOutput = attributes.contains(ir::attr::kOutput);
  if (attributes.contains(ir::attr::kParam))
    role.stored = "params";
  else if (attributes.contains(ir::attr::kGradient))
    role.stored = "grads";
  else if (attributes.contains(ir::attr::kState))
    role.stored = "optimizer";
  for (StringRef name : {ir::attr::kParam, ir::attr::kGradient})
    if (attributes.contains(name))
      role.tensor = {"parameters", getString(attributes, name)};
  if (attributes.contains(ir::attr::kState)) // "m.layers.wq"
    role.tensor = {"parameters", getString(attributes, ir::attr::kState).split('.').second};
  if (attributes.contains(ir::attr::kInput))
    role.tensor = {"values", getString(attributes, ir::attr::kInput)};
  return role;
}

/// An anchor's, or that of a value without a name.
Role getAnchorRole(ir::AnchorOp anchor) {
  Role role;
  role.tensor = {"values", ir::getName(anchor)};
  return role;
}

class Binder {
public:
  Binder(const MeshView &mesh, const TensorMaps &maps) : mesh(mesh), maps(maps) {}

  LogicalResult bindFunction(func::FuncOp function) {
    for (BlockArgument arg : function.getArguments())
      if (isa<NamedTensorType>(arg.getType()))
        bindValue(arg, getRole(function.getArgAttrDict(arg.getArgNumber())));
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto anchor = dyn_cast<ir::AnchorOp>(op))
        bindValue(anchor.getResult(), getAnchorRole(anchor));
      if (auto repeat = dyn_cast<ir::RepeatOp>(op))
        bindRepeat(repeat);
    });
    return bindResults(function);
  }

private:
  /// The places that the maps give to a tensor, starting at dimension `first`.
  Places placeByName(NamedTensorType type, int64_t first, TensorName tensor) const {
    Places places = mesh.getNoPlaces();
    SmallVector<int64_t> parts(type.getRank(), 1);
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      for (const std::string &name : maps.getPreference(a, tensor)) {
        int64_t at = findDim(type, name);
        if (at < first || !canSplit(type.getDims()[at].getSize(), parts[at], mesh.getAxes()[a]))
          continue;
        places.axes[a] = static_cast<int>(at);
        parts[at] *= std::max<int64_t>(1, mesh.getAxes()[a].degree);
        break;
      }
    return places;
  }

  /// The dimension called `name`, else the first that renames it; -1 where there is neither.
  static int64_t findDim(NamedTensorType type, StringRef name) {
    int64_t renamed = -1;
    for (auto [i, dim] : llvm::enumerate(type.getDims())) {
      if (dim.getName() == name)
        return i;
      if (renamed < 0 && dim.getOrigin() && dim.getOrigin() == name)
        renamed = i;
    }
    return renamed;
  }

  /// Whether `axis` keeps shards of what plays `role`. A gradient lies as the optimizer's state
  /// does where that is in shards: nothing but the update reads it, so it is summed to shares at
  /// once.
  bool keepsShards(size_t axis, const Role &role) const {
    return maps.stores(axis, role.stored, role.tensor) ||
           (role.stored == "grads" && maps.stores(axis, "optimizer", role.tensor));
  }

  /// Flat over the axes that store this kind and split no dimension. A stacked scalar has nothing
  /// to flatten below its layers, and a scalar is not worth cutting up.
  void store(Places &places, const Role &role, NamedTensorType type, int64_t from) const {
    if (type.getRank() <= from)
      return;
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (places.axes[a] == kNowhere && keepsShards(a, role))
        places.axes[a] = kFlat;
    places.flatFrom = static_cast<int>(from);
  }

  NamedTensorType bind(NamedTensorType type, Role role) const {
    if (type.getSharding())
      return type;
    int64_t first = role.stacked;
    Places places = role.isOutput ? mesh.getNoPlaces() : placeByName(type, first, role.tensor);
    if (!role.stored.empty())
      store(places, role, type, first);
    return type.withSharding(mesh.getSharding(type.getRank(), places));
  }

  void bindValue(Value value, Role role) const {
    value.setType(bind(cast<NamedTensorType>(value.getType()), role));
  }

  /// Puts an anchor of type `type` between `value` and its uses for which `replaces` holds.
  static Value insertAnchor(OpBuilder &builder, Value value, Type type,
                            function_ref<bool(OpOperand &)> replaces) {
    auto anchor = builder.create<ir::AnchorOp>(value.getLoc(), type, value);
    value.replaceUsesWithIf(
        anchor, [&](OpOperand &use) { return use.getOwner() != anchor && replaces(use); });
    return anchor;
  }

  /// The anchor stands right after the value, so that what is reduced is reduced early and its
  /// unreduced form dies; a value of another block gets it before `op`.
  static void anchorOperand(Operation *op, unsigned operand, Type type) {
    Value value = op->getOperand(operand);
    if (value.getType() == type)
      return;
    OpBuilder builder(op);
    if (value.getParentBlock() == op->getBlock())
      builder.setInsertionPointAfterValue(value);
    op->setOperand(operand, builder.create<ir::AnchorOp>(value.getLoc(), type, value));
  }

  /// Inits, arguments, yielded values and results of what is carried lie alike, by the name of the
  /// init; a slice lies as its stack does, below the first dimension.
  void bindRepeat(ir::RepeatOp repeat) const {
    auto roles = llvm::map_to_vector(repeat.getInits(), [](Value init) {
      return getAnchorRole(init.getDefiningOp<ir::AnchorOp>());
    });
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      for (auto [i, arg] : llvm::enumerate(body.getIterArgs())) {
        bindValue(arg, roles[i]);
        anchorOperand(repeat, i, arg.getType());
        anchorOperand(body.getYield(), i, arg.getType());
        repeat.getResult(i).setType(arg.getType());
      }
      for (auto [stack, slice, number] : body.getScannedInputs())
        if (auto type = cast<NamedTensorType>(stack.getType());
            type.getSharding() && isSliceable(type))
          slice.setType(ir::RepeatOp::getSlotType(type));
    }
  }

  static bool isSliceable(NamedTensorType type) {
    ShardingAttr sharding = type.getSharding();
    return sharding.getDimAxes().front().empty() &&
           (!sharding.isFlat() || sharding.getFlatFrom() > 0);
  }

  /// A result that updates an argument lies as the argument does.
  FailureOr<Type> bindResult(func::FuncOp function, unsigned i) const {
    auto updated = function.getResultAttrOfType<IntegerAttr>(i, ir::attr::kUpdates);
    if (!updated)
      return bind(cast<NamedTensorType>(function.getResultTypes()[i]),
                  getRole(function.getResultAttrDict(i)));
    if (updated.getInt() < 0 || updated.getInt() >= function.getNumArguments())
      return function.emitError("result ") << i << " updates no argument";
    return function.getArgument(updated.getInt()).getType();
  }

  LogicalResult bindResults(func::FuncOp function) const {
    auto ret = cast<func::ReturnOp>(function.getBody().back().getTerminator());
    SmallVector<Type> results(function.getResultTypes());
    for (unsigned i = 0; i < results.size(); ++i) {
      if (!isa<NamedTensorType>(results[i]))
        continue;
      FailureOr<Type> bound = bindResult(function, i);
      if (failed(bound))
        return failure();
      results[i] = *bound;
      if (function.getResultAttr(i, ir::attr::kGradient))
        bindGradient(ret, i, cast<NamedTensorType>(results[i]));
      anchorOperand(ret, i, results[i]);
    }
    SmallVector<Type> inputs(function.getBody().getArgumentTypes());
    function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
    return success();
  }

  /// All uses of a gradient see it as it is stored; one that a repeat stacks is bound where the
  /// body yields it.
  static void bindGradient(func::ReturnOp ret, unsigned operand, NamedTensorType type) {
    Value value = ret.getOperand(operand);
    if (auto anchor = value.getDefiningOp<ir::AnchorOp>();
        anchor && anchor.getInput().hasOneUse()) {
      Value stack = anchor.getInput();
      if (stack.getDefiningOp<ir::RepeatOp>()) {
        anchor.replaceAllUsesWith(stack);
        anchor.erase();
        value = stack;
      }
    }
    auto repeat = value.getDefiningOp<ir::RepeatOp>();
    unsigned number = repeat ? cast<OpResult>(value).getResultNumber() : 0;
    if (repeat && number >= repeat.getNumIterArgs() && isSliceable(type)) {
      for (const ir::RepeatVariant &body : repeat.getVariants())
        for (auto [yielded, stack, yieldOperand] : body.getStackedOutputs())
          if (stack == value)
            anchorOperand(body.getYield(), yieldOperand, ir::RepeatOp::getSlotType(type));
      value.setType(type);
      return;
    }
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    // A value can be the gradient of several parameters (zero of two unused ones), which lie
    // differently.
    insertAnchor(builder, value, type, [&](OpOperand &use) {
      return use.getOwner() != ret || use.getOperandNumber() == operand;
    });
  }

  const MeshView &mesh;
  const TensorMaps &maps;
};

struct BindAnchors : titan::dist::impl::DistBindAnchorsBase<BindAnchors> {
  void runOnOperation() override {
    auto bind = [](func::FuncOp function, const MeshView &mesh) {
      return Binder(mesh, TensorMaps(mesh)).bindFunction(function);
    };
    if (failed(forEachFunction(getOperation(), bind)))
      signalPassFailure();
  }
};

} // namespace
