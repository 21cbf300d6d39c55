//===- StructureOps.cpp - The repeat: syntax and constraints --------------===//

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/StructureOps.cpp.inc"

Block::BlockArgListType RepeatOp::getCarriedArgs() {
  return getBody().front().getArguments().slice(1, getNumCarried());
}

Block::BlockArgListType RepeatOp::getSliceArgs() {
  return getBody().front().getArguments().drop_front(1 + getNumCarried());
}

YieldOp RepeatOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

NamedTensorType RepeatOp::getSliceType(NamedTensorType type) {
  dist::ShardingAttr sharding = type.getSharding();
  if (sharding)
    sharding = dist::ShardingAttr::get(type.getContext(), sharding.getDimAxes().drop_front(),
                                       sharding.getFlatAxes(),
                                       std::max<int64_t>(0, sharding.getFlatFrom() - 1),
                                       sharding.getPartialAxes(), sharding.getPartialKind());
  return NamedTensorType::get(type.getElementType(), type.getDims().drop_front(), sharding);
}

NamedTensorType RepeatOp::getStackedType(DimAttr dim, NamedTensorType type) {
  SmallVector<DimAttr> dims{dim};
  llvm::append_range(dims, type.getDims());
  dist::ShardingAttr sharding = type.getSharding();
  if (sharding) {
    SmallVector<ArrayAttr> axes{ArrayAttr::get(type.getContext(), {})};
    llvm::append_range(axes, sharding.getDimAxes());
    sharding = dist::ShardingAttr::get(type.getContext(), axes, sharding.getFlatAxes(),
                                       sharding.isFlat() ? sharding.getFlatFrom() + 1 : 0,
                                       sharding.getPartialAxes(), sharding.getPartialKind());
  }
  return NamedTensorType::get(type.getElementType(), dims, sharding);
}

void RepeatOp::build(OpBuilder &builder, OperationState &state, DimAttr dim, bool reverse,
                     ValueRange inits, ValueRange slices, TypeRange stackedTypes) {
  build(builder, state, llvm::to_vector(llvm::concat<const Type>(
            SmallVector<Type>(inits.getTypes()), SmallVector<Type>(stackedTypes))),
        dim, reverse, inits, slices);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(state.regions[0].get());
  body->addArgument(NamedTensorType::get(builder.getI64Type(), {}), state.location);
  for (Value init : inits)
    body->addArgument(init.getType(), init.getLoc());
  for (Value slice : slices)
    body->addArgument(getSliceType(cast<NamedTensorType>(slice.getType())), slice.getLoc());
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  DimAttr dim;
  SmallVector<OpAsmParser::UnresolvedOperand> inits, slices;
  if (parser.parseCustomAttributeWithFallback(dim))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setDim(dim);
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.setReverse(parser.getBuilder().getUnitAttr());
  FunctionType types;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword("carry") || parser.parseOperandList(inits, AsmParser::Delimiter::Paren) ||
      parser.parseKeyword("slices") || parser.parseOperandList(slices, AsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(types))
    return failure();
  properties.setOperandSegmentSizes({static_cast<int>(inits.size()), static_cast<int>(slices.size())});
  llvm::append_range(inits, slices);
  if (parser.resolveOperands(inits, types.getInputs(), place, state.operands) ||
      parser.parseRegion(*state.addRegion()))
    return failure();
  state.addTypes(types.getResults());
  return success();
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printStrippedAttrOrType(getDim());
  if (getReverse())
    printer << " reverse";
  printer << " carry(" << getInits() << ") slices(" << getSlices() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dim", "reverse", "operandSegmentSizes"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getBody());
}

static bool matches(Type a, Type b) { return cast<NamedTensorType>(a).equalsUpToSharding(cast<NamedTensorType>(b)); }

LogicalResult RepeatOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 + getInits().size() + getSlices().size())
    return emitOpError("(C1) expected ") << 1 + getInits().size() + getSlices().size()
           << " arguments of the body, got " << block.getNumArguments();
  for (auto [init, arg] : llvm::zip_equal(getInits(), getCarriedArgs()))
    if (!matches(init.getType(), arg.getType()))
      return emitOpError("(C1) carries ") << init.getType() << " as " << arg.getType();
  for (auto [slice, arg] : llvm::zip_equal(getSlices(), getSliceArgs())) {
    auto type = cast<NamedTensorType>(slice.getType());
    if (type.getRank() == 0 || type.getDims().front() != getDim() ||
        !matches(getSliceType(type), arg.getType()))
      return emitOpError("(C1) slices ") << type << " along " << getDim() << " as " << arg.getType();
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getNumResults() || getNumResults() < getNumCarried())
    return emitOpError("(C3) expected a yield of ") << getNumResults() << " values";
  for (unsigned i = 0; i < getNumResults(); ++i) {
    auto yielded = cast<NamedTensorType>(yield.getValues()[i].getType());
    bool carried = i < getNumCarried();
    if (carried && !matches(yielded, getInits()[i].getType()))
      return emitOpError("(C2) yields ") << yielded << " for carried " << getInits()[i].getType();
    if (!matches(carried ? yielded : getStackedType(getDim(), yielded), getResult(i).getType()))
      return emitOpError("(C3) result ") << i << " is " << getResult(i).getType() << ", yielded as "
             << yielded;
  }
  return success();
}

YieldOp FusedOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

/// Constants, iotas and the like have no rows: each row computes them anew.
static bool hasRows(Operation &op, ArrayAttr rows) {
  return llvm::all_of(op.getResultTypes(), [&](Type type) {
    auto tensor = cast<NamedTensorType>(type);
    return tensor.getRank() == 0 || isa<IotaOp>(op) ||
           llvm::all_of(rows.getAsRange<StringAttr>(),
                        [&](StringAttr row) { return tensor.hasDim(row); });
  });
}

LogicalResult FusedOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || TypeRange(yield.getValues()) != TypeRange(getResults()))
    return emitOpError("(C1) expected a yield of the results' types");
  for (Operation &op : getBody().front().without_terminator())
    if (!hasRows(op, getRows()))
      return emitOpError("(C2) '") << op.getName() << "' lacks a dimension of the rows " << getRows();
  return success();
}
