// The pass --dist-assign-shardings: sharding constraints get the shardings of the axis rules.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/MicrobatchLoop.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/TensorAxisRules.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorAttributes.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTASSIGNSHARDINGS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

namespace {

/// The role of a function's argument or result, from its attributes.
struct Role {
  StringRef stored;    ///< the kind of stored tensor: "params", "grads", "optimizer", or empty
  int64_t stacked = 0; ///< number of leading dimensions that are iterations
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

/// The role of a sharding constraint; `constraint` may be null.
Role getConstraintRole(ir::ShardingConstraintOp constraint) {
  Role role;
  role.tensor = {"values", ir::getName(constraint)};
  return role;
}

class ShardingAssigner {
public:
  ShardingAssigner(const MeshView &mesh, const TensorAxisRules &rules) : mesh(mesh), rules(rules) {}

  LogicalResult assignFunction(func::FuncOp function) {
    for (BlockArgument arg : function.getArguments())
      if (isa<NamedTensorType>(arg.getType()))
        assignValue(arg, getRole(function.getArgAttrDict(arg.getArgNumber())));
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto constraint = dyn_cast<ir::ShardingConstraintOp>(op))
        assignValue(constraint.getResult(), getConstraintRole(constraint));
      if (auto repeat = dyn_cast<ir::RepeatOp>(op))
        assignRepeat(repeat);
    });
    return assignResults(function);
  }

private:
  /// Assigns axes to the dimensions from index `first` on, by the axis rules.
  ShardingByAxis assignByName(NamedTensorType type, int64_t first, TensorName tensor) const {
    ShardingByAxis byAxis = mesh.getReplicated();
    SmallVector<int64_t> degrees(type.getRank(), 1);
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      for (const std::string &name : rules.getPreference(a, tensor)) {
        int64_t at = findDim(type, name);
        if (at < first || !canSplit(type.getDims()[at].getSize(), degrees[at], mesh.getAxes()[a]))
          continue;
        byAxis.dimOfAxis[a] = static_cast<int>(at);
        degrees[at] *= std::max<int64_t>(1, mesh.getAxes()[a].degree);
        break;
      }
    return byAxis;
  }

  /// The index of the dimension `name`, or else of the first dimension with this origin, or -1.
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

  /// Whether `axis` stores values of this role as shards. Gradients follow the optimizer state,
  /// because only the update reads them: they are reduce-scattered at once.
  bool storesShards(size_t axis, const Role &role) const {
    return rules.stores(axis, role.stored, role.tensor) ||
           (role.stored == "grads" && rules.stores(axis, "optimizer", role.tensor));
  }

  /// Adds flat storage over the axes that store tensors of this role in shards and shard no
  /// dimension. Scalars and stacked scalars stay replicated.
  void storeFlat(ShardingByAxis &byAxis, const Role &role, NamedTensorType type,
                 int64_t from) const {
    if (type.getRank() <= from)
      return;
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (byAxis.dimOfAxis[a] == kReplicated && storesShards(a, role))
        byAxis.dimOfAxis[a] = kFlat;
    byAxis.flatFrom = static_cast<int>(from);
  }

  NamedTensorType assign(NamedTensorType type, Role role) const {
    if (type.getSharding())
      return type;
    int64_t first = role.stacked;
    ShardingByAxis byAxis =
        role.isOutput ? mesh.getReplicated() : assignByName(type, first, role.tensor);
    if (!role.stored.empty())
      storeFlat(byAxis, role, type, first);
    return type.withSharding(mesh.getSharding(type.getRank(), byAxis));
  }

  void assignValue(Value value, Role role) const {
    value.setType(assign(cast<NamedTensorType>(value.getType()), role));
  }

  /// Inserts a sharding constraint of type `type` between `value` and the uses that `replaces`
  /// accepts.
  static Value insertConstraint(OpBuilder &builder, Value value, Type type,
                                function_ref<bool(OpOperand &)> replaces) {
    auto constraint = builder.create<ir::ShardingConstraintOp>(value.getLoc(), type, value);
    value.replaceUsesWithIf(
        constraint, [&](OpOperand &use) { return use.getOwner() != constraint && replaces(use); });
    return constraint;
  }

  /// Inserts a sharding constraint for an operand of `op`. It directly follows the definition of
  /// the value, so that an unreduced value is reduced early and its live range is short. The
  /// constraint of a value that another block defines precedes `op`.
  static void constrainOperand(Operation *op, unsigned operand, Type type) {
    Value value = op->getOperand(operand);
    if (value.getType() == type)
      return;
    OpBuilder builder(op);
    if (value.getParentBlock() == op->getBlock())
      builder.setInsertionPointAfterValue(value);
    op->setOperand(operand, builder.create<ir::ShardingConstraintOp>(value.getLoc(), type, value));
  }

  /// Gives an iteration argument one sharding at init, argument, yield and result; the axis rules
  /// for the name of the init determine it. A slot has the sharding of its stack without the
  /// leading dimension.
  void assignRepeat(ir::RepeatOp repeat) const {
    auto roles = llvm::map_to_vector(repeat.getInits(), [](Value init) {
      return getConstraintRole(init.getDefiningOp<ir::ShardingConstraintOp>());
    });
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      for (auto [i, arg] : llvm::enumerate(body.getIterArgs())) {
        assignValue(arg, roles[i]);
        constrainOperand(repeat, i, arg.getType());
        constrainOperand(body.getYield(), i, arg.getType());
        repeat.getResult(i).setType(arg.getType());
      }
      for (auto [stack, slice, number] : body.getScannedInputs())
        if (auto type = cast<NamedTensorType>(stack.getType());
            type.getSharding() && isSliceable(type))
          slice.setType(ir::RepeatOp::getSlotType(type));
    }
  }

  /// Whether no axis shards the leading dimension, so that every rank has all slots of a stack.
  static bool isSliceable(NamedTensorType type) {
    ShardingAttr sharding = type.getSharding();
    return sharding.getDimAxes().front().empty() &&
           (!sharding.isFlat() || sharding.getFlatFrom() > 0);
  }

  /// A result that updates an argument has the argument's type.
  FailureOr<Type> assignResult(func::FuncOp function, unsigned i) const {
    auto updated = function.getResultAttrOfType<IntegerAttr>(i, ir::attr::kUpdates);
    if (!updated)
      return assign(cast<NamedTensorType>(function.getResultTypes()[i]),
                    getRole(function.getResultAttrDict(i)));
    if (updated.getInt() < 0 || updated.getInt() >= function.getNumArguments())
      return function.emitError("result ") << i << " updates no argument";
    return function.getArgument(updated.getInt()).getType();
  }

  LogicalResult assignResults(func::FuncOp function) const {
    auto ret = cast<func::ReturnOp>(function.getBody().back().getTerminator());
    SmallVector<Type> results(function.getResultTypes());
    for (unsigned i = 0; i < results.size(); ++i) {
      if (!isa<NamedTensorType>(results[i]))
        continue;
      FailureOr<Type> assigned = assignResult(function, i);
      if (failed(assigned))
        return failure();
      results[i] = *assigned;
      if (function.getResultAttr(i, ir::attr::kGradient))
        assignGradient(ret, i, cast<NamedTensorType>(results[i]));
      constrainOperand(ret, i, results[i]);
    }
    SmallVector<Type> inputs(function.getBody().getArgumentTypes());
    function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
    return success();
  }

  /// Constrains all uses of a gradient to its storage sharding. The constraint of a stacked
  /// gradient is inside the body, at the yield.
  static void assignGradient(func::ReturnOp ret, unsigned operand, NamedTensorType type) {
    Value value = ret.getOperand(operand);
    if (auto constraint = value.getDefiningOp<ir::ShardingConstraintOp>();
        constraint && constraint.getInput().hasOneUse()) {
      Value stack = constraint.getInput();
      if (stack.getDefiningOp<ir::RepeatOp>()) {
        constraint.replaceAllUsesWith(stack);
        constraint.erase();
        value = stack;
      }
    }
    if (assignStack(value, type) || assignSum(value, type))
      return;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    // One value can be the gradient of several parameters with different shardings, such as the
    // zero of two unused parameters.
    insertConstraint(builder, value, type, [&](OpOperand &use) {
      return use.getOwner() != ret || use.getOperandNumber() == operand;
    });
  }

  /// Stores each slot of a stacked output as a shard. False if `value` is no stacked output.
  static bool assignStack(Value value, NamedTensorType type) {
    auto repeat = value.getDefiningOp<ir::RepeatOp>();
    if (!repeat || cast<OpResult>(value).getResultNumber() < repeat.getNumIterArgs() ||
        !isSliceable(type))
      return false;
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (auto [yielded, stack, yieldOperand] : body.getStackedOutputs())
        if (stack == value)
          constrainOperand(body.getYield(), yieldOperand, ir::RepeatOp::getSlotType(type));
    value.setType(type);
    return true;
  }

  /// Sums the gradients of all microbatches as shards: each one, or each slot of a stack, is
  /// reduce-scattered at once. --dist-hoist-collectives may move the reductions behind the loop.
  /// False if `value` is no such sum.
  static bool assignSum(Value value, NamedTensorType type) {
    auto loop = value.getDefiningOp<ir::RepeatOp>();
    unsigned number = loop ? cast<OpResult>(value).getResultNumber() : 0;
    if (!loop || number >= loop.getNumIterArgs() || loop.getNumVariants() > 1)
      return false;
    ir::RepeatVariant body = loop.getVariant(0);
    BlockArgument sum = body.getIterArgs()[number];
    auto add = getUnconstrained(body.getYieldedIterArgs()[number]).getDefiningOp<ir::AddOp>();
    if (!add || !add->hasOneUse() || !sum.hasOneUse() || add->getOperand(0) != sum ||
        !add->getOperand(1).hasOneUse())
      return false;
    Value term = add->getOperand(1);
    if (!assignStack(term, type)) {
      if (!isMicrobatchLoop(loop) || term.getParentBlock() != &body.getBlock())
        return false;
      constrainOperand(add, 1, type);
    }
    replaceConstraint(loop, number, type);
    replaceConstraint(body.getYield(), number, type);
    sum.setType(type);
    value.setType(type);
    return true;
  }

  /// The operand of the sharding constraint that defines `value`, or else `value`.
  static Value getUnconstrained(Value value) {
    auto constraint = value.getDefiningOp<ir::ShardingConstraintOp>();
    return constraint ? Value(constraint.getInput()) : value;
  }

  /// Replaces the sharding that assignRepeat has given an operand.
  static void replaceConstraint(Operation *op, unsigned operand, Type type) {
    auto constraint = op->getOperand(operand).getDefiningOp<ir::ShardingConstraintOp>();
    if (constraint && constraint->hasOneUse())
      constraint.getResult().setType(cast<NamedTensorType>(type));
    else
      constrainOperand(op, operand, type);
  }

  const MeshView &mesh;
  const TensorAxisRules &rules;
};

struct AssignShardings : titan::dist::impl::DistAssignShardingsBase<AssignShardings> {
  void runOnOperation() override {
    auto assign = [](func::FuncOp function, const MeshView &mesh) {
      return ShardingAssigner(mesh, TensorAxisRules(mesh)).assignFunction(function);
    };
    if (failed(forEachFunction(getOperation(), assign)))
      signalPassFailure();
  }
};

} // namespace
