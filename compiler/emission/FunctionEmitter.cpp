// Emits one function.

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/WatchNumbers.h"

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/PipelineTable.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

std::string emission::getSourceLine(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()))
      .str();
}

std::string emission::getElementType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(64))
    return "int64_t";
  return type.isInteger(1) ? "bool" : "";
}

std::string emission::getRegisterType(Type type) {
  return type.isBF16() ? "float" : getElementType(type);
}

std::string emission::getDType(Type type) {
  if (type.isF32())
    return "DType::F32";
  if (type.isF64())
    return "DType::F64";
  if (type.isBF16())
    return "DType::BF16";
  return type.isInteger(1) ? "DType::Bool" : "DType::I64";
}

std::string emission::getScalarType(Operation *op) {
  bool isFloat = false;
  for (TypeRange types : {TypeRange(op->getResultTypes()), TypeRange(op->getOperandTypes())})
    for (Type type : types) {
      Type element = cast<NamedTensorType>(type).getElementType();
      if (element.isF64())
        return "double";
      isFloat |= isa<FloatType>(element);
    }
  return isFloat ? "float" : "double";
}

ProgramState::ProgramState(func::FuncOp function, Target target)
    : target(target), watchesNumbers(emission::watchesNumbers(function)),
      sizes(dist::MeshOp::lookup(function->getParentOfType<ModuleOp>())) {
  auto module = function->getParentOfType<ModuleOp>();
  auto allocations = module->getAttrOfType<ArrayAttr>(memory::kPersistent);
  persistent = llvm::to_vector(allocations.getAsRange<AllocationAttr>());
  if (function->hasAttr(dist::kFragmentAttr))
    usedAllocations = memory::getUsedAllocations(function);
}

int64_t ProgramState::getAllocationIndex(AllocRefAttr ref) const {
  if (!usedAllocations || ref.getSpace() != MemorySpace::Persistent)
    return ref.getIndex();
  return llvm::find(*usedAllocations, ref.getIndex()) - usedAllocations->begin();
}

std::optional<SizeExpr> ProgramState::getBucketSize(AllocRefAttr ref) {
  if (!ref || ref.getSpace() != MemorySpace::Persistent)
    return std::nullopt;
  StringAttr bucket = persistent[ref.getIndex()].getBucket();
  if (!bucket)
    return std::nullopt;
  SmallVector<NamedTensorType> types;
  for (AllocationAttr allocation : persistent)
    if (allocation.getBucket() == bucket)
      types.push_back(cast<NamedTensorType>(allocation.getType()));
  // Several buckets of one block have numbers behind a colon, which differ from stage to stage.
  return SizeExpr(sizes.getBucketSize(bucket.getValue().split(':').first, types));
}

FunctionEmitter::FunctionEmitter(ProgramState &program, SmallVector<EnclosingRepeat> repeats)
    : program(program), repeats(std::move(repeats)) {}

SmallVector<IndexDim> FunctionEmitter::getSpace(Value value) {
  SmallVector<IndexDim> space;
  for (LocalDim &dim : sizes().getDims(cast<NamedTensorType>(value.getType())))
    space.push_back({dim.key, dim.size});
  return space;
}

SizeExpr FunctionEmitter::getSlotStride(AllocRefAttr ref, NamedTensorType type) {
  std::optional<SizeExpr> bucket = program.getBucketSize(ref);
  if (!bucket)
    return sizes().getCount(type);
  SizeExpr slots;
  SmallVector<LocalDim> dims = sizes().getDims(type);
  for (const LocalDim &dim : ArrayRef(dims).drop_back())
    slots = slots * dim.size;
  return slots * *bucket;
}

SizeExpr FunctionEmitter::getRowStride(Value flat) {
  if (std::optional<SizeExpr> bucket = program.getBucketSize(memory::getAllocRef(flat)))
    return *bucket;
  return sizes().getDims(cast<NamedTensorType>(flat.getType())).back().size;
}

Access FunctionEmitter::getAccess(Value value, ArrayRef<IndexDim> space) {
  Access access = makeAccess(getPointer(value), space);
  auto type = cast<NamedTensorType>(value.getType());
  access.isNarrow = type.getElementType().isBF16();
  if (std::optional<SizeExpr> distance = program.getBucketSize(memory::getAllocRef(value)))
    for (const IndexDim &slots : llvm::reverse(space.drop_back())) {
      access.strides[slots.key] = *distance;
      distance = slots.size * *distance;
    }
  return access;
}

Access FunctionEmitter::getIndexAccess(IotaOp iota) {
  NamedTensorType type = iota.getType();
  const bool isHeadTail = bool(type.getShardingOrReplicated().getHeadTailAxis(0));
  Access access = makeAccess(isHeadTail ? "" : getShardOffset(type, 0), getSpace(iota.getResult()));
  access.isIndex = true;
  if (isHeadTail)
    access.offsetToIndex = getShard(type, 0) + ".toGlobal";
  return access;
}

Access FunctionEmitter::getAccess(Value value) {
  return getAccess(value, getSpace(value));
}

std::string FunctionEmitter::getAllocPointer(AllocRefAttr ref, Type element,
                                             const SizeExpr &distance) {
  bool persistent = ref.getSpace() == MemorySpace::Persistent;
  std::string text = (persistent ? "persistent<" : "transient<") + getElementType(element) +
                     ">(ctx, " + std::to_string(program.getAllocationIndex(ref)) + ")";
  // Slots are row-major in the indices of the enclosing repeats: the innermost varies fastest.
  SizeExpr stride = distance;
  size_t depth = ref.getLevels().size();
  for (int64_t level : llvm::reverse(ref.getLevels())) {
    ArrayRef<int64_t> users = ref.getLevelUsers(--depth);
    RepeatOp repeat = repeats[level].repeat;
    std::string slot = repeats[level].index;
    DimAttr slots = repeat.getDim();
    if (!users.empty()) {
      slot = getSlotTable(sizes(), repeat, users) + "[" + slot + "]";
      slots = repeat.getStackDim(users);
    }
    text += " + " + scale(slot, stride);
    stride = SizeExpr(sizes().getSize(slots, ArrayAttr::get(ref.getContext(), {}))) * stride;
  }
  return text;
}

std::string FunctionEmitter::getPointer(Value value) {
  std::string wanted = ir::getSourceName(value);
  value = ir::getRoot(value);
  auto [entry, isNew] = pointers.try_emplace(value);
  if (!isNew)
    return entry->second;
  std::string name = scope.pick(wanted);
  pointers[value] = name;
  auto type = cast<NamedTensorType>(value.getType());
  auto layer = value.getDefiningOp<dist::LayerOp>();
  AllocRefAttr where = memory::getAllocRef(value);
  std::string address =
      layer ? getLayerPointer(layer)
            : getAllocPointer(where, type.getElementType(), getSlotStride(where, type));
  body.line(getElementType(type.getElementType()) + " *" + name + " = " + address + ";");
  return name;
}

std::string FunctionEmitter::getLayerPointer(dist::LayerOp layer) {
  NamedTensorType stack = layer.getStack().getType();
  AllocRefAttr ref = memory::getAllocRef(layer.getStack());
  std::string text = getAllocPointer(ref, stack.getElementType(), getSlotStride(ref, stack));
  DimAttr dim = stack.getDims().front();
  std::string count = sizes().getSize(dim, ArrayAttr::get(layer.getContext(), {})).name;
  int64_t offset = layer.getOffset();
  std::string position = std::to_string(offset);
  if (layer.getIndex()) {
    position = getInlineScalar(layer.getIndex());
    // If there is no such layer, its value is unused. The index still wraps around, because a cast
    // of the value reads memory.
    if (offset != 0)
      position = "((" + position + (offset < 0 ? " + " + count + " - " : " + ") +
                 std::to_string(std::abs(offset)) + ") % " + count + ")";
  } else if (offset > 0 && offset == dim.getSize() - 1) {
    // By name, so that a program differs from a deeper one in a constant alone.
    position = "(" + count + " - 1)";
  }
  return position == "0" ? text
                         : text + " + " + scale(position, getSlotStride(ref, layer.getType()));
}

std::string FunctionEmitter::getScratch(Operation *op, unsigned index, Type type) {
  auto refs = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  return getAllocPointer(cast<AllocRefAttr>(refs[index]), type, SizeExpr());
}

std::string FunctionEmitter::getInlineScalar(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    std::optional<RepeatVariant> body = findVariant(argument.getOwner());
    if (!body || argument != body->getIndex())
      return "";
    size_t depth = 0;
    for (Operation *op = body->getRepeat()->getParentOp(); op; op = op->getParentOp())
      depth += isa<RepeatOp>(op);
    return repeats[depth].index;
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return "";
  return cast<ScalarOpInterface>(constant.getOperation())
      .getElementExpression({}, 0, getScalarType(constant));
}

std::string FunctionEmitter::declare(const std::string &type, const std::string &wanted,
                                     const std::string &expression) {
  std::string &name = declared[expression];
  if (name.empty()) {
    name = scope.pick(wanted);
    body.line("const " + type + " " + name + " = " + expression + ";");
  }
  return name;
}

std::string FunctionEmitter::getShardOffset(NamedTensorType type, int64_t dim) {
  ArrayAttr axes = type.getShardingOrReplicated().getDimAxes()[dim];
  if (axes.empty())
    return "";
  SizeFactor size = sizes().getSize(type.getDims()[dim], axes);
  return declare("int64_t", size.name + "_start",
                 "(" + sizes().getShardIndex(axes) + ") * " + size.name);
}

/// The axes of a dimension, with the coordinates of the rank: the arguments of getShard.
std::string FunctionEmitter::getShardLevels(NamedTensorType type, int64_t dim) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  std::string levels;
  for (auto axis : sharding.getDimAxes()[dim].getAsRange<StringAttr>()) {
    std::string index = sizes().getAxisName(axis);
    levels += (levels.empty() ? "{ctx.degree[" : ", {ctx.degree[") + index + "], ctx.coordinate[" +
              index + "], ShardOrder::" +
              (sharding.getOrder(axis) == ShardOrder::HeadTail ? "HeadTail}" : "Block}");
  }
  SizeFactor whole = sizes().getSize(type.getDims()[dim], ArrayAttr::get(type.getContext(), {}));
  return whole.name + ", {" + levels + "}";
}

std::string FunctionEmitter::getShardBefore(NamedTensorType type, int64_t dim, Value back) {
  return "getShard(" + getShardLevels(type, dim) + ", " + getInlineScalar(back) + ")";
}

std::string FunctionEmitter::getShard(NamedTensorType type, int64_t dim) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  ArrayAttr axes = sharding.getDimAxes()[dim];
  if (axes.empty())
    return "";
  SizeFactor size = sizes().getSize(type.getDims()[dim], axes);
  if (!sharding.getHeadTailAxis(dim))
    return "DimShard{" + getShardOffset(type, dim) + ", " + size.name + "}";
  return declare("DimShard", size.name + "_shard", "getShard(" + getShardLevels(type, dim) + ")");
}

std::string FunctionEmitter::getGlobalIndex(NamedTensorType type, int64_t dim,
                                            const std::string &local) {
  if (type.getShardingOrReplicated().getHeadTailAxis(dim))
    return getShard(type, dim) + ".toGlobal(" + local + ")";
  std::string start = getShardOffset(type, dim);
  return local + (start.empty() ? "" : " + " + start);
}

std::string FunctionEmitter::getLocalIndex(NamedTensorType type, int64_t dim,
                                           const std::string &global) {
  if (type.getShardingOrReplicated().getHeadTailAxis(dim))
    return getShard(type, dim) + ".toLocal(" + global + ")";
  std::string start = getShardOffset(type, dim);
  return global + (start.empty() ? "" : " - " + start);
}

void FunctionEmitter::emitSourceLine(Operation *op) {
  std::string now = getSourceLine(op->getLoc());
  if (now.empty() || now == line)
    return;
  line = now;
  body.line(comment(line));
}

void FunctionEmitter::emitTrace(Operation *op) {
  std::string now = getSourceLine(op->getLoc());
  if (now.empty())
    return;
  std::string call = "trace(ctx, " + quote(now) + ", " + quote(getAction(op)) + ");";
  if (call == lastTrace)
    return;
  lastTrace = call;
  body.line(lastTrace);
}

std::string FunctionEmitter::getGroup(ArrayAttr axes) {
  std::string list;
  for (auto axis : axes.getAsRange<StringAttr>())
    list += (list.empty() ? "" : ", ") + sizes().getAxisName(axis);
  return "over<" + list + ">()";
}

void FunctionEmitter::copyTo(Value value, StringRef target) {
  std::string count = sizes().getCount(cast<NamedTensorType>(value.getType())).str();
  body.line("tm::copy(ctx, " + target + ", " + getPointer(value) + ", " + count + ");");
}

/// Slot by slot if the slots are strided on either side.
void FunctionEmitter::copyToAllocation(Value value, AllocRefAttr target) {
  auto type = cast<NamedTensorType>(value.getType());
  AllocRefAttr source = memory::getAllocRef(value);
  if (target == source)
    return;
  std::string to = getAllocPointer(target, type.getElementType(), getSlotStride(target, type));
  std::optional<SizeExpr> sourceBucket = program.getBucketSize(source),
                          targetBucket = program.getBucketSize(target);
  SmallVector<LocalDim> dims = sizes().getDims(type);
  if (!(sourceBucket || targetBucket) || dims.size() == 1)
    return copyTo(value, to);
  SizeExpr slots, size = dims.back().size;
  for (const LocalDim &dim : ArrayRef(dims).drop_back())
    slots = slots * dim.size;
  Loop loop{{"slots"}, slots, "slot"};
  std::string from = getPointer(value);
  openLoops(body, loop);
  body.line("tm::copy(ctx, " + to + " + " + scale("slot", targetBucket.value_or(size)) + ", " +
            from + " + " + scale("slot", sourceBucket.value_or(size)) + ", " + size.str() + ");");
  closeLoops(body, loop);
}
