// Waits and layers: syntax and verifiers.

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

std::optional<int64_t> dist::getStartChannel(Operation *op) {
  if (!isCollective(op) && !isMessage(op))
    return std::nullopt;
  auto channel = op->getAttrOfType<IntegerAttr>("channel");
  return channel ? std::optional(channel.getInt()) : std::nullopt;
}

LogicalResult WaitOp::verify() {
  if (getFlights().getTypes() != getResultTypes())
    return emitOpError("(C1) expected results of the types of its operands");
  for (Value flight : getFlights()) {
    Operation *start = flight.getDefiningOp();
    if (start ? getStartChannel(start) != static_cast<int64_t>(getChannel())
              : !isa<ir::RepeatOp>(flight.getParentBlock()->getParentOp()))
      return emitOpError("(C2) waits on channel ") << getChannel() << " for a value that is not in "
                                                   << "flight there";
  }
  return success();
}

bool LayerOp::exists(int64_t at) {
  int64_t position = getPosition(at);
  return position >= 0 && position < getStack().getType().getDims().front().getSize();
}

LayerOp dist::getLayer(Operation *collective) {
  Value value = collective->getOperand(0);
  while (isa_and_nonnull<ir::CastOp, ir::CopyOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<LayerOp>();
}

LogicalResult LayerOp::verify() {
  ir::NamedTensorType stack = getStack().getType();
  if (stack.getRank() == 0 || ir::RepeatOp::getSlotType(stack) != getType())
    return emitOpError("(C1) gives ") << getType() << ", which is not a slice of " << stack;
  auto index = dyn_cast_or_null<BlockArgument>(getIndex());
  std::optional<ir::RepeatVariant> body = index ? ir::findVariant(index.getOwner()) : std::nullopt;
  bool isIndex = body && index == body->getIndex() &&
                 body->getRepeat().getDim().getSize() == stack.getDims().front().getSize();
  if (getIndex() ? !isIndex : !exists(0))
    return emitOpError("(C2) lacks the slice ") << getOffset() << " of " << stack;
  return success();
}

/// `%w[%l + 1]`, `%w[%l - 1]`, `%w[%l]` or `%w[3]`.
ParseResult LayerOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand stack, index;
  int64_t offset = 0;
  ir::NamedTensorType from, to;
  if (parser.parseOperand(stack) || parser.parseLSquare())
    return failure();
  OptionalParseResult hasIndex = parser.parseOptionalOperand(index);
  if (hasIndex.has_value()) {
    if (failed(*hasIndex))
      return failure();
    bool isPlus = succeeded(parser.parseOptionalPlus());
    OptionalParseResult hasOffset = parser.parseOptionalInteger(offset);
    if (hasOffset.has_value() ? failed(*hasOffset) : isPlus)
      return failure();
  } else if (parser.parseInteger(offset)) {
    return failure();
  }
  if (parser.parseRSquare() || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(from) || parser.parseArrow() || parser.parseType(to) ||
      parser.resolveOperand(stack, from, state.operands))
    return failure();
  Builder &builder = parser.getBuilder();
  if (hasIndex.has_value()) {
    // After the shard phase the index of a repeat has a sharding.
    auto scalar = ir::NamedTensorType::get(builder.getI64Type(), {},
                                           ShardingAttr::getReplicated(builder.getContext(), 0));
    if (parser.resolveOperand(index, scalar, state.operands))
      return failure();
  }
  state.addAttribute("offset", builder.getI64IntegerAttr(offset));
  state.addTypes(to);
  return success();
}

void LayerOp::print(OpAsmPrinter &printer) {
  int64_t offset = static_cast<int64_t>(getOffset());
  printer << ' ' << getStack() << '[';
  if (!getIndex())
    printer << offset;
  else
    printer << getIndex();
  if (getIndex() && offset != 0)
    printer << (offset < 0 ? " - " : " + ") << std::abs(offset);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"offset"});
  printer << " : " << getStack().getType() << " -> " << getType();
}
