// Bodies, scanned inputs and stacked outputs of a repeat, and the slots of allocations.

#include "dialects/titan/IR/Titan.h"

#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

RepeatVariant RepeatOp::getVariant(unsigned number) {
  return {*this, number};
}

SmallVector<RepeatVariant, 2> RepeatOp::getVariants() {
  SmallVector<RepeatVariant, 2> variants;
  for (unsigned i = 0; i < getNumVariants(); ++i)
    variants.push_back(getVariant(i));
  return variants;
}

IterationTable RepeatOp::getIterations() {
  if (std::optional<ArrayRef<int64_t>> table = getTable())
    return IterationTable(SmallVector<int64_t>(*table));
  return IterationTable(getDim().getSize());
}

/// List `index` of `lists`; an empty list means all variants.
static SmallVector<int64_t> getUsers(std::optional<ArrayAttr> lists, unsigned index,
                                     unsigned numVariants) {
  ArrayRef<int64_t> list;
  if (lists && index < lists->size())
    list = cast<DenseI64ArrayAttr>((*lists)[index]).asArrayRef();
  SmallVector<int64_t> users(list);
  if (users.empty()) {
    users.resize(numVariants);
    std::iota(users.begin(), users.end(), 0);
  }
  return users;
}

SmallVector<int64_t> RepeatOp::getScannedUsers(unsigned index) {
  return getUsers(getScannedUsers(), index, getNumVariants());
}

SmallVector<int64_t> RepeatOp::getStackedUsers(unsigned index) {
  return getUsers(getStackedUsers(), index, getNumVariants());
}

VariantLists RepeatOp::getAllScannedUsers() {
  VariantLists lists;
  for (unsigned i = 0; i < getScannedInputs().size(); ++i)
    lists.push_back(getScannedUsers(i));
  return lists;
}

VariantLists RepeatOp::getAllStackedUsers() {
  VariantLists lists;
  for (unsigned i = 0; i < getStackedOutputs().size(); ++i)
    lists.push_back(getStackedUsers(i));
  return lists;
}

SmallVector<Value> RepeatOp::getYielded(unsigned index) {
  SmallVector<Value> values;
  for (const RepeatVariant &variant : getVariants()) {
    if (index < getNumIterArgs())
      values.push_back(variant.getYieldedIterArgs()[index]);
    for (const RepeatVariant::StackedOutput &stack : variant.getStackedOutputs())
      if (stack.output.getResultNumber() == index)
        values.push_back(stack.value);
  }
  return values;
}

DimAttr RepeatOp::getStackDim(DimAttr dim, int64_t slots) {
  if (slots == dim.getSize())
    return dim;
  std::string name = (dim.getName().getValue() + ".x" + Twine(slots)).str();
  return DimAttr::get(dim.getContext(), StringAttr::get(dim.getContext(), name), slots,
                      dim.getName());
}

DimAttr RepeatOp::getStackDim(ArrayRef<int64_t> users) {
  return getStackDim(getDim(), getIterations().getCount(users));
}

NamedTensorType RepeatOp::getSlotType(NamedTensorType type) {
  dist::ShardingAttr sharding = type.getSharding();
  if (sharding)
    sharding = sharding.withDims(sharding.getDimAxes().drop_front(),
                                 std::max<int64_t>(0, sharding.getFlatFrom() - 1));
  return NamedTensorType::get(type.getElementType(), type.getDims().drop_front(), sharding);
}

NamedTensorType RepeatOp::getStackedType(DimAttr dim, NamedTensorType type) {
  SmallVector<DimAttr> dims{dim};
  llvm::append_range(dims, type.getDims());
  dist::ShardingAttr sharding = type.getSharding();
  if (sharding) {
    SmallVector<ArrayAttr> axes{ArrayAttr::get(type.getContext(), {})};
    llvm::append_range(axes, sharding.getDimAxes());
    sharding = sharding.withDims(axes, sharding.isFlat() ? sharding.getFlatFrom() + 1 : 0);
  }
  return NamedTensorType::get(type.getElementType(), dims, sharding);
}

void RepeatOp::build(OpBuilder &builder, OperationState &state, DimAttr dim, bool reverse,
                     ValueRange inits, ValueRange scannedInputs, TypeRange stackedTypes) {
  SmallVector<Type> results(inits.getTypes());
  llvm::append_range(results, stackedTypes);
  build(builder, state, results, dim, reverse, IterationTable(dim.getSize()), inits, scannedInputs,
        {}, {});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(state.regions[0].get());
  body->addArgument(NamedTensorType::get(builder.getI64Type(), {}), state.location);
  for (Value init : inits)
    body->addArgument(init.getType(), init.getLoc());
  for (Value input : scannedInputs)
    body->addArgument(getSlotType(cast<NamedTensorType>(input.getType())), input.getLoc());
}

ArrayAttr RepeatOp::packUsers(Builder &builder, const VariantLists &lists, size_t numVariants) {
  auto isAll = [&](ArrayRef<int64_t> list) { return list.empty() || list.size() == numVariants; };
  if (llvm::all_of(lists, isAll))
    return {};
  SmallVector<Attribute> packed;
  for (ArrayRef<int64_t> list : lists)
    packed.push_back(builder.getDenseI64ArrayAttr(isAll(list) ? ArrayRef<int64_t>() : list));
  return builder.getArrayAttr(packed);
}

unsigned RepeatOp::countVariants(ArrayRef<int64_t> table) {
  return table.empty() ? 1 : *std::max_element(table.begin(), table.end()) + 1;
}

void RepeatOp::build(OpBuilder &builder, OperationState &state, TypeRange results, DimAttr dim,
                     bool reverse, const IterationTable &table, ValueRange inits,
                     ValueRange scannedInputs, const VariantLists &scannedUsers,
                     const VariantLists &stackedUsers) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setDim(dim);
  if (reverse)
    properties.setReverse(builder.getUnitAttr());
  unsigned numVariants = countVariants(table.getVariants());
  if (numVariants > 1)
    properties.setTable(builder.getDenseI64ArrayAttr(table.getVariants()));
  properties.setScannedUsers(packUsers(builder, scannedUsers, numVariants));
  properties.setStackedUsers(packUsers(builder, stackedUsers, numVariants));
  properties.setOperandSegmentSizes(
      {static_cast<int>(inits.size()), static_cast<int>(scannedInputs.size())});
  state.addOperands(inits);
  state.addOperands(scannedInputs);
  state.addTypes(results);
  for (unsigned i = 0; i < numVariants; ++i)
    state.addRegion();
}

ArrayRef<int64_t> AllocRefAttr::getLevelUsers(size_t i) const {
  if (!getUsers())
    return {};
  return mlir::cast<DenseI64ArrayAttr>(getUsers()[i]).asArrayRef();
}

AllocRefAttr AllocRefAttr::getSlot(int64_t level, RepeatOp repeat, ArrayRef<int64_t> users) const {
  Builder builder(getContext());
  SmallVector<int64_t> levels(getLevels());
  VariantLists lists;
  for (size_t i = 0; i < levels.size(); ++i)
    lists.emplace_back(getLevelUsers(i));
  levels.push_back(level);
  lists.emplace_back(users.size() == repeat.getNumVariants() ? ArrayRef<int64_t>() : users);
  SmallVector<Attribute> packed;
  for (ArrayRef<int64_t> list : lists)
    packed.push_back(builder.getDenseI64ArrayAttr(list));
  bool isPartial = llvm::any_of(lists, [](const auto &list) { return !list.empty(); });
  return get(getContext(), getSpace(), getIndex(), levels,
             isPartial ? builder.getArrayAttr(packed) : ArrayAttr());
}
