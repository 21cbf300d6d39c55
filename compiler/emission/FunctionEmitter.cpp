//===- FunctionEmitter.cpp - One emitted function -------------------------===//

#include "compiler/emission/FunctionEmitter.h"

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
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

ProgramState::ProgramState(ModuleOp module, Target target)
    : target(target), sizes(dist::MeshOp::lookup(module)) {
  auto buffers = module->getAttrOfType<ArrayAttr>(memory::kPersistent);
  persistent = llvm::to_vector(buffers.getAsRange<BufferAttr>());
}

std::optional<Extent> ProgramState::getBucket(PlaceAttr place) {
  if (!place || place.getSpace() != MemorySpace::Persistent)
    return std::nullopt;
  StringAttr bucket = persistent[place.getBuffer()].getBucket();
  if (!bucket)
    return std::nullopt;
  SmallVector<NamedTensorType> types;
  for (BufferAttr buffer : persistent)
    if (buffer.getBucket() == bucket)
      types.push_back(cast<NamedTensorType>(buffer.getType()));
  return Extent(sizes.getBucket(bucket.getValue(), types));
}

FunctionEmitter::FunctionEmitter(ProgramState &program, SmallVector<Enclosing> repeats)
    : program(program), repeats(std::move(repeats)) {}

SmallVector<Index> FunctionEmitter::getSpace(Value value) {
  SmallVector<Index> space;
  for (LocalDim &dim : sizes().getDims(cast<NamedTensorType>(value.getType())))
    space.push_back({dim.key, dim.size});
  return space;
}

Extent FunctionEmitter::getDistance(PlaceAttr place, NamedTensorType type) {
  std::optional<Extent> bucket = program.getBucket(place);
  if (!bucket)
    return sizes().getCount(type);
  Extent slots;
  SmallVector<LocalDim> dims = sizes().getDims(type);
  for (const LocalDim &dim : ArrayRef(dims).drop_back())
    slots = slots * dim.size;
  return slots * *bucket;
}

Extent FunctionEmitter::getRowDistance(Value flat) {
  if (std::optional<Extent> bucket = program.getBucket(memory::getPlace(flat)))
    return *bucket;
  return sizes().getDims(cast<NamedTensorType>(flat.getType())).back().size;
}

Access FunctionEmitter::getAccess(Value value, ArrayRef<Index> space) {
  Access access = makeAccess(getPointer(value), space);
  auto type = cast<NamedTensorType>(value.getType());
  access.isNarrow = type.getElementType().isBF16();
  if (std::optional<Extent> distance = program.getBucket(memory::getPlace(value)))
    for (const Index &slots : llvm::reverse(space.drop_back())) {
      access.strides[slots.key] = *distance;
      distance = slots.size * *distance;
    }
  return access;
}

Access FunctionEmitter::getIndexAccess(IotaOp iota) {
  Access access = makeAccess(getRankOffset(iota.getType(), 0), getSpace(iota.getResult()));
  access.isIndex = true;
  return access;
}

Access FunctionEmitter::getAccess(Value value) {
  return getAccess(value, getSpace(value));
}

std::string FunctionEmitter::getPlacePointer(PlaceAttr place, Type element,
                                             const Extent &distance) {
  bool persistent = place.getSpace() == MemorySpace::Persistent;
  std::string text = (persistent ? "persistent<" : "transient<") + getElementType(element) +
                     ">(ctx, " + std::to_string(place.getBuffer()) + ")";
  // Slots are row-major in the enclosing repeats' indices; of those, the innermost varies fastest.
  Extent stride = distance;
  size_t depth = place.getLevels().size();
  for (int64_t level : llvm::reverse(place.getLevels())) {
    ArrayRef<int64_t> users = place.getLevelUsers(--depth);
    RepeatOp repeat = repeats[level].repeat;
    std::string slot = repeats[level].index;
    DimAttr slots = repeat.getDim();
    if (!users.empty()) {
      slot = getSlotTable(sizes(), repeat, users) + "[" + slot + "]";
      slots = repeat.getStackDim(users);
    }
    text += " + " + scale(slot, stride);
    stride = Extent(sizes().getSize(slots, ArrayAttr::get(place.getContext(), {}))) * stride;
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
  PlaceAttr where = memory::getPlace(value);
  std::string place = layer
                          ? getLayerPointer(layer)
                          : getPlacePointer(where, type.getElementType(), getDistance(where, type));
  body.line(getElementType(type.getElementType()) + " *" + name + " = " + place + ";");
  return name;
}

std::string FunctionEmitter::getLayerPointer(dist::LayerOp layer) {
  NamedTensorType stack = layer.getStack().getType();
  PlaceAttr place = memory::getPlace(layer.getStack());
  std::string text = getPlacePointer(place, stack.getElementType(), getDistance(place, stack));
  DimAttr dim = stack.getDims().front();
  std::string count = sizes().getSize(dim, ArrayAttr::get(layer.getContext(), {})).name;
  int64_t offset = layer.getOffset();
  std::string position = std::to_string(offset);
  if (layer.getIndex()) {
    position = getInlineScalar(layer.getIndex());
    // Where there is no such layer, nothing comes of it; but what casts it reads some layer's
    // memory.
    if (offset != 0)
      position = "((" + position + (offset < 0 ? " + " + count + " - " : " + ") +
                 std::to_string(std::abs(offset)) + ") % " + count + ")";
  } else if (offset > 0 && offset == dim.getSize() - 1) {
    // By name, so that a program differs from a deeper one in a constant alone.
    position = "(" + count + " - 1)";
  }
  return position == "0" ? text
                         : text + " + " + scale(position, getDistance(place, layer.getType()));
}

std::string FunctionEmitter::getScratch(Operation *op, unsigned index, Type type) {
  auto places = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  return getPlacePointer(cast<PlaceAttr>(places[index]), type, Extent());
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

std::string FunctionEmitter::getRankOffset(NamedTensorType type, int64_t dim) {
  ArrayAttr axes = type.getShardingOrReplicated().getDimAxes()[dim];
  if (axes.empty())
    return "";
  Factor size = sizes().getSize(type.getDims()[dim], axes);
  std::string start = "(" + sizes().getPart(axes) + ") * " + size.name;
  std::string &name = rankOffsets[start];
  if (name.empty()) {
    name = scope.pick(size.name + "_start");
    body.line("const int64_t " + name + " = " + start + ";");
  }
  return name;
}

void FunctionEmitter::emitSourceLine(Operation *op) {
  std::string now = getSourceLine(op->getLoc());
  if (now.empty() || now == line)
    return;
  line = now;
  body.line(comment(line));
}

/// `contract wgrad` of a `titan.contract` that is part of the weight gradient.
static std::string getAction(Operation *op) {
  std::string action = op->getName().stripDialect().str();
  if (auto part = op->getAttrOfType<StringAttr>(attr::kPart))
    action += " " + part.getValue().str();
  return action;
}

void FunctionEmitter::setPlace(Operation *op) {
  std::string now = getSourceLine(op->getLoc());
  if (now.empty())
    return;
  std::string call = "at(ctx, " + quote(now) + ", " + quote(getAction(op)) + ");";
  if (call == place)
    return;
  place = call;
  body.line(place);
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

/// Slot by slot where these lie apart on either side.
void FunctionEmitter::copyToPlace(Value value, PlaceAttr target) {
  auto type = cast<NamedTensorType>(value.getType());
  PlaceAttr source = memory::getPlace(value);
  if (target == source)
    return;
  std::string to = getPlacePointer(target, type.getElementType(), getDistance(target, type));
  std::optional<Extent> sourceBucket = program.getBucket(source),
                        targetBucket = program.getBucket(target);
  SmallVector<LocalDim> dims = sizes().getDims(type);
  if (!(sourceBucket || targetBucket) || dims.size() == 1)
    return copyTo(value, to);
  Extent slots, part = dims.back().size;
  for (const LocalDim &dim : ArrayRef(dims).drop_back())
    slots = slots * dim.size;
  Loop loop{{"slots"}, slots, "slot"};
  std::string from = getPointer(value);
  openLoops(body, loop);
  body.line("tm::copy(ctx, " + to + " + " + scale("slot", targetBucket.value_or(part)) + ", " +
            from + " + " + scale("slot", sourceBucket.value_or(part)) + ", " + part.str() + ");");
  closeLoops(body, loop);
}
