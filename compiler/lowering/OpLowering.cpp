#include "compiler/lowering/OpLowering.h"

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace titan::lowering {

using sema::Op;
using sema::OpKind;

void OpLowering::lower(const sema::Region &region) {
  for (const Op &op : region.ops)
    if (needs.needs(op))
      lower(op);
}

void OpLowering::lower(const Op &op) {
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  lowerUnmarked(op);
  if (!marksBlocks || op.blocks.empty())
    return;
  ArrayAttr blocks =
      builder.getStrArrayAttr(SmallVector<StringRef>(op.blocks.begin(), op.blocks.end()));
  for (Operation &made :
       llvm::make_range(last ? std::next(last->getIterator()) : block->begin(), block->end()))
    made.setAttr(ir::attr::kBlocks, blocks);
}

void OpLowering::lowerUnmarked(const Op &op) {
  mlir::Location loc = translation.loc(op.loc, op.name);
  if (op.kind == OpKind::Repeat)
    return lowerRepeat(op, loc);
  if (op.kind == OpKind::Update) {
    auto type = cast<ir::NamedTensorType>(parameters.lookup(op.index).getType());
    updates[op.index] = reorderDims(getOperand(op, 0), type, loc);
    return;
  }
  if (op.results.size() > 1) {
    for (auto [id, result] : llvm::zip_equal(op.results, lowerMultiResult(op, loc)->getResults()))
      values[id] = result;
    return;
  }
  ir::NamedTensorType type = translation.type(model.values[op.results[0]].type);
  values[op.results[0]] = lowerSingleResult(op, loc, type);
}

Value OpLowering::lowerSingleResult(const Op &op, mlir::Location loc, ir::NamedTensorType type) {
  switch (op.kind) {
  case OpKind::Parameter:
    return parameters.lookup(op.index);
  case OpKind::Input:
    return inputs.lookup(op.index);
  case OpKind::Constant:
    if (!isa<FloatType>(type.getElementType()))
      return builder.create<ir::ConstantOp>(loc, type, builder.getI64IntegerAttr(op.index));
    return builder.create<ir::ConstantOp>(loc, type, op.number);
  case OpKind::Step:
    return scalars.lookup(kStep);
  case OpKind::Training:
    return builder.create<ir::ConstantOp>(loc, type, isTraining ? 1.0 : 0.0);
  case OpKind::Iota:
    return builder.create<ir::IotaOp>(loc, type);
  case OpKind::Elementwise:
    return lowerElementwise(op, loc, type);
  case OpKind::Contract:
    return builder.create<ir::ContractOp>(loc, type, getOperand(op, 0), getOperand(op, 1));
  case OpKind::Gather:
    return builder.create<ir::GatherOp>(loc, type, getOperand(op, 0), getOperand(op, 1),
                                        translation.dimName(op.dims[0]));
  case OpKind::Rotary:
    return lowerRotary(op, loc, type);
  case OpKind::Scatter:
    return lowerScatter(op, loc, type);
  case OpKind::Random:
    return lowerRandom(*ir::symbolizeRandomKind(op.word), op, loc, type);
  case OpKind::Dropout:
    return lowerDropout(op, loc, type);
  default:
    return lowerUnary(op, getOperand(op, 0), loc, type);
  }
}

/// Operations with one operand and dimensions as attributes.
Value OpLowering::lowerUnary(const Op &op, Value x, mlir::Location loc, ir::NamedTensorType type) {
  auto name = [&](size_t i) { return translation.dimName(op.dims[i]); };
  switch (op.kind) {
  case OpKind::Reduce:
    return builder.create<ir::ReduceOp>(loc, type, *dist::symbolizeReductionKind(op.word), x);
  case OpKind::Cumulate:
    return builder.create<ir::CumulativeSumOp>(
        loc, type, x, name(0), op.word == "reverse" ? builder.getUnitAttr() : UnitAttr());
  case OpKind::Count:
    return lowerCount(op, x, loc, type);
  case OpKind::Cast:
    return builder.create<ir::CastOp>(loc, type, x);
  case OpKind::Rename:
    return builder.create<ir::RenameOp>(loc, type, x);
  case OpKind::Slice:
    return builder.create<ir::SliceOp>(loc, type, x, name(0), op.index);
  case OpKind::Pad:
    return builder.create<ir::PadOp>(loc, type, x, name(1), op.index);
  case OpKind::Split:
    return builder.create<ir::SplitOp>(loc, type, x, name(0));
  case OpKind::Merge:
    return builder.create<ir::MergeOp>(loc, type, x, name(0));
  case OpKind::Expand:
    return builder.create<ir::ExpandOp>(loc, type, x);
  case OpKind::StopGradient:
    return builder.create<ir::StopGradientOp>(loc, type, x);
  case OpKind::ShardingConstraint:
    return constrain(x, type, loc, op.names[0]);
  default:
    llvm_unreachable("has not one operand and one result");
  }
}

Value OpLowering::lowerElementwise(const Op &op, mlir::Location loc, ir::NamedTensorType type) {
  if (std::optional<ir::ComparePredicate> predicate = ir::symbolizeComparePredicate(op.word))
    return builder.create<ir::CompareOp>(loc, type, *predicate, getOperand(op, 0),
                                         getOperand(op, 1));
  // The names of the semantic analysis are the mnemonics of the dialect.
  OperationState state(loc, "titan." + op.word);
  for (size_t i = 0; i < op.operands.size(); ++i)
    state.addOperands(getOperand(op, i));
  state.addTypes(type);
  return builder.create(state)->getResult(0);
}

Value OpLowering::lowerRotary(const Op &op, mlir::Location loc, ir::NamedTensorType type) {
  return builder.create<ir::RotaryOp>(
      loc, type, getOperand(op, 0), /*start=*/Value(), translation.dimName(op.dims[1]),
      translation.dimName(op.dims[0]),
      op.numbers.empty() ? builder.getF64FloatAttr(op.number) : FloatAttr(),
      op.numbers.empty() ? DenseF64ArrayAttr() : builder.getDenseF64ArrayAttr(op.numbers),
      op.word == "interleaved" ? builder.getUnitAttr() : UnitAttr(), UnitAttr());
}

Operation *OpLowering::lowerMultiResult(const Op &op, mlir::Location loc) {
  SmallVector<Type> types;
  for (sema::ValueId id : op.results)
    types.push_back(translation.type(model.values[id].type));
  StringAttr first = translation.dimName(op.dims[0]);
  if (op.kind == OpKind::TopK)
    return builder.create<ir::TopKOp>(loc, types, getOperand(op, 0), first);
  return builder.create<ir::AttentionOp>(
      loc, types[0], types[1], getOperand(op, 0), getOperand(op, 1), getOperand(op, 2),
      op.operands.size() > 3 ? getOperand(op, 3) : Value(), /*ringStep=*/Value(), /*start=*/Value(),
      translation.dimName(op.dims[1]), first, builder.getF64FloatAttr(op.number),
      op.word == "causal" ? builder.getUnitAttr() : UnitAttr(),
      op.index ? builder.getI64IntegerAttr(op.index) : IntegerAttr(),
      op.numbers.empty() ? FloatAttr() : builder.getF64FloatAttr(op.numbers[0]),
      /*ringAxes=*/ArrayAttr());
}

Value OpLowering::lowerCount(const Op &op, Value x, mlir::Location loc, ir::NamedTensorType type) {
  SmallVector<Attribute> over;
  for (sema::DimId dim : ArrayRef(op.dims).drop_front())
    over.push_back(translation.dimName(dim));
  return builder.create<ir::CumulativeCountOp>(loc, type, x, translation.dimName(op.dims[0]),
                                               builder.getI64IntegerAttr(op.index),
                                               builder.getArrayAttr(over));
}

/// Adds narrow updates in a wider type and rounds the sum once.
Value OpLowering::lowerScatter(const Op &op, mlir::Location loc, ir::NamedTensorType type) {
  auto wide = type.withElementType(ir::getAccumulationType(type.getElementType()));
  Value sums = builder.create<ir::ScatterOp>(loc, wide, getOperand(op, 0), getOperand(op, 1),
                                             translation.dimName(op.dims[0]));
  return wide == type ? sums : builder.create<ir::CastOp>(loc, type, sums);
}

/// The stream has the name of the variable that the tensor contributes to, and a number.
Value OpLowering::lowerRandom(ir::RandomKind kind, const Op &op, mlir::Location loc,
                              ir::NamedTensorType type) {
  std::string stream = op.name + "." + std::to_string(randomStreams[op.name]++);
  SmallVector<Value> keys{scalars.lookup(kSeed), scalars.lookup(isTraining ? kStep : kSample)};
  if (!keys[0]) { // an evaluation
    auto zero = builder.create<ir::ConstantOp>(
        loc, ir::NamedTensorType::get(builder.getI64Type(), {}), 0.0);
    keys.assign(2, zero);
  }
  llvm::append_range(keys, indices);
  return builder.create<ir::RandomOp>(loc, type, kind, stream, keys);
}

/// x / (1 - rate) where a uniform number is at least the rate, else 0. The numbers are f32 for all
/// types of x, so that every precision drops the same elements.
Value OpLowering::lowerDropout(const Op &op, mlir::Location loc, ir::NamedTensorType type) {
  if (!isTraining)
    return getOperand(op, 0);
  auto constant = [&](double value, Type element) -> Value {
    return builder.create<ir::ConstantOp>(loc, ir::NamedTensorType::get(element, {}), value);
  };
  Type f32 = builder.getF32Type(), element = type.getElementType();
  Value drawn = lowerRandom(ir::RandomKind::Uniform, op, loc, type.withElementType(f32));
  Value mask =
      builder.create<ir::CompareOp>(loc, type.withElementType(builder.getI1Type()),
                                    ir::ComparePredicate::GE, drawn, constant(op.number, f32));
  Value scaled = builder.create<ir::MulOp>(loc, type, getOperand(op, 0),
                                           constant(1 / (1 - op.number), element));
  return builder.create<ir::SelectOp>(loc, type, mask, scaled, constant(0, element));
}

Value OpLowering::reorderDims(Value value, ir::NamedTensorType type, mlir::Location loc) {
  return value.getType() == type ? value : builder.create<ir::ExpandOp>(loc, type, value);
}

Value OpLowering::constrain(Value value, ir::NamedTensorType type, mlir::Location loc,
                            StringRef name) {
  value = reorderDims(value, type, loc);
  auto constraint = value.getDefiningOp<ir::ShardingConstraintOp>();
  if (constraint && (name.empty() || ir::getName(constraint) == name))
    return value;
  return ir::createConstraint(builder, loc, type, value, name);
}

/// The parameters that the bodies declare, nested repeats included, with the variants that declare
/// each. The repeats around a shared call do not number its parameters: `depth` repeats are between
/// the declaration and this one.
OpLowering::VariantsByParameter OpLowering::findScannedParameters(ArrayRef<sema::Region> bodies,
                                                                  size_t depth) const {
  VariantsByParameter scanned;
  for (auto [number, body] : llvm::enumerate(bodies)) {
    auto add = [&](uint32_t index) {
      SmallVector<int64_t> &users = scanned[index];
      if (users.empty() || users.back() != static_cast<int64_t>(number))
        users.push_back(number);
    };
    for (const Op &op : body.ops) {
      if (op.kind == OpKind::Parameter && needs.parameters.count(op.index) &&
          model.parameters[op.index].repeats.size() > depth)
        add(op.index);
      for (const auto &inner : findScannedParameters(op.body, depth + 1))
        add(inner.first);
    }
  }
  return scanned;
}

OpLowering::VariantsByParameter
OpLowering::findUpdatedParameters(const VariantsByParameter &scanned) const {
  VariantsByParameter updated;
  for (const auto &[index, variants] : scanned)
    if (needs.updates && model.parameters[index].isUpdated)
      updated[index] = variants;
  return updated;
}

/// The dimension that a repeat stacks along. Stacked outputs of nested repeats have both dimensions
/// and need distinct names. Parameters have only one of them, under its name.
static ir::DimAttr makeStackDim(ir::DimAttr dim, ArrayRef<sema::Region> bodies,
                                OpBuilder &builder) {
  int depth = 0;
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); isa<ir::RepeatOp>(op);
       op = op->getParentOp())
    ++depth;
  auto isRepeat = [](const Op &op) { return op.kind == OpKind::Repeat; };
  bool isNest = llvm::any_of(
      bodies, [&](const sema::Region &body) { return llvm::any_of(body.ops, isRepeat); });
  if (depth == 0 && !isNest)
    return dim;
  std::string name = dim.getName().str() + "." + std::to_string(depth);
  return ir::DimAttr::get(builder.getContext(), builder.getStringAttr(name), dim.getSize());
}

void OpLowering::markFirstLayer(const Op &op, ir::RepeatOp repeat) {
  const sema::Dim &dim = model.dims[op.dims[0]];
  int64_t before = 0, all = 0;
  for (const Op &other : model.body.ops) {
    if (&other == &op)
      before = all;
    if (other.kind == OpKind::Repeat && model.dims[other.dims[0]].name == dim.name)
      all += model.dims[other.dims[0]].size;
  }
  if (all > dim.size)
    repeat->setAttr(ir::attr::kFirstLayer, builder.getI64IntegerAttr(before));
}

void OpLowering::lowerRepeat(const Op &op, mlir::Location loc) {
  SmallVector<Value> inits, slices;
  SmallVector<Type> types;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    types.push_back(translation.type(model.values[op.operands[i]].type));
    inits.push_back(
        constrain(getOperand(op, i), cast<ir::NamedTensorType>(types.back()), loc, op.names[i]));
  }
  VariantsByParameter scanned = findScannedParameters(op.body);
  ir::VariantLists users;
  for (const auto &[index, variants] : scanned) {
    slices.push_back(parameters.lookup(index));
    users.push_back(variants);
  }
  VariantsByParameter updated = findUpdatedParameters(scanned);
  ir::VariantLists stackedUsers;
  for (const auto &[index, variants] : updated) {
    types.push_back(parameters.lookup(index).getType());
    stackedUsers.push_back(variants);
  }
  ir::DimAttr dim = translation.dim(op.dims[0]);
  if (scanned.empty()) {
    dim = makeStackDim(dim, op.body, builder);
  } else {
    // Of calls that share parameters, the parameters have the dimension of the first call. The
    // slots of a parameter of some iterations are a dimension of their own, which derives from it.
    auto stack = cast<ir::NamedTensorType>(slices.front().getType()).getDims().front();
    if (stack.getSize() == dim.getSize())
      dim = stack;
    else if (stack.getOrigin() != dim.getName())
      dim = ir::DimAttr::get(builder.getContext(), stack.getOrigin(), dim.getSize());
  }
  ir::IterationTable table(SmallVector<int64_t>(op.table.begin(), op.table.end()));
  auto made = builder.create<ir::RepeatOp>(loc, types, dim, /*reverse=*/false, table, inits, slices,
                                           users, stackedUsers);
  if (indices.empty())
    markFirstLayer(op, made);
  for (auto [region, body] : llvm::zip_equal(made.getBodies(), op.body))
    lowerBody(region, body, inits, scanned, updated, loc);
  for (auto [id, value] : llvm::zip_equal(op.results, made.getIterResults()))
    values[id] = value;
  for (auto [buffer, stack] : llvm::zip_equal(updated, made.getStackedOutputs()))
    updates[buffer.first] = stack;
}

void OpLowering::lowerBody(mlir::Region &region, const sema::Region &body, ArrayRef<Value> inits,
                           const VariantsByParameter &scanned, const VariantsByParameter &updated,
                           mlir::Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  values[body.arguments[0]] =
      block->addArgument(ir::NamedTensorType::get(builder.getI64Type(), {}), loc);
  for (auto [argument, init] : llvm::zip_equal(ArrayRef(body.arguments).drop_front(), inits))
    values[argument] = block->addArgument(init.getType(), init.getLoc());
  llvm::DenseMap<uint32_t, Value> outside = parameters;
  for (const auto &[index, variants] : scanned) {
    if (!llvm::is_contained(variants, region.getRegionNumber()))
      continue;
    auto type = cast<ir::NamedTensorType>(outside.lookup(index).getType());
    const sema::Parameter &parameter = model.parameters[index];
    parameters[index] = block->addArgument(ir::RepeatOp::getSlotType(type),
                                           translation.loc(parameter.loc, parameter.name));
  }
  indices.push_back(values.lookup(body.arguments[0]));
  lower(body);
  indices.pop_back();
  SmallVector<Value> yields;
  for (auto [id, init] : llvm::zip_equal(body.yields, inits)) {
    auto type = cast<ir::NamedTensorType>(init.getType());
    Value value = reorderDims(values.lookup(id), type, loc);
    // A declared value keeps its name; any other value gets the name of the initial value.
    bool isDeclared = value.getDefiningOp<ir::ShardingConstraintOp>() != nullptr;
    StringRef start = ir::getName(init.getDefiningOp<ir::ShardingConstraintOp>());
    yields.push_back(constrain(value, type, loc, isDeclared ? StringRef() : start));
  }
  // An iteration without an update returns the buffer unchanged.
  for (const auto &[index, variants] : updated)
    if (llvm::is_contained(variants, region.getRegionNumber())) {
      Value next = updates.lookup(index);
      yields.push_back(next ? next : parameters.lookup(index));
      updates.erase(index);
    }
  builder.create<ir::YieldOp>(loc, yields);
  parameters = std::move(outside);
}

} // namespace titan::lowering
