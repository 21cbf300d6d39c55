// Parses, prints and verifies shardings.

#include "dialects/dist/IR/Dist.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace titan::dist;

/// The word after an axis in head-tail order.
static constexpr llvm::StringLiteral kHeadTail = "headtail";

/// Parses `{a, b}` into an array of strings. If `headTail` is given, `{a headtail, b}` adds `a` to
/// it.
static ParseResult parseAxisList(AsmParser &parser, ArrayAttr &axes,
                                 SmallVectorImpl<Attribute> *headTail = nullptr) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    if (headTail && succeeded(parser.parseOptionalKeyword(kHeadTail)))
      headTail->push_back(names.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisList(AsmPrinter &printer, ArrayAttr axes, ArrayAttr headTail = {}) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printer.printKeywordOrString(llvm::cast<StringAttr>(axis).getValue());
    if (headTail && llvm::is_contained(headTail, axis))
      printer << ' ' << kHeadTail;
  });
  printer << '}';
}

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t degree = 0;
  if (parser.parseLess() || parser.parseKeywordOrString(&name) || parser.parseEqual())
    return {};
  if (failed(parser.parseOptionalKeyword("auto")) && parser.parseInteger(degree))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getStringAttr(name), degree);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printKeywordOrString(getName().getValue());
  printer << " = ";
  if (isAuto())
    printer << "auto";
  else
    printer << getDegree();
  printer << '>';
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<ArrayAttr> dims;
  ArrayAttr none = parser.getBuilder().getArrayAttr({}), flat = none, partial = none;
  int64_t flatFrom = 0;
  ReductionKind kind = ReductionKind::Sum;
  SmallVector<Attribute> headTail;
  auto parseDim = [&]() { return parseAxisList(parser, dims.emplace_back(), &headTail); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  if (succeeded(parser.parseOptionalKeyword("flat")) &&
      (parser.parseInteger(flatFrom) || parseAxisList(parser, flat)))
    return {};
  if (succeeded(parser.parseOptionalKeyword("partial"))) {
    StringRef word;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    std::optional<ReductionKind> parsed = symbolizeReductionKind(word);
    if (!parsed) {
      parser.emitError(location, "expected sum, max or min");
      return {};
    }
    kind = *parsed;
    if (parseAxisList(parser, partial))
      return {};
  }
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseGreater())
    return {};
  auto complain = [&]() -> InFlightDiagnostic { return parser.emitError(location); };
  function_ref<InFlightDiagnostic()> emitError = complain;
  return getChecked(emitError, parser.getContext(), ArrayRef<ArrayAttr>(dims), flat, flatFrom,
                    partial, kind, parser.getBuilder().getArrayAttr(headTail));
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDimAxes(), printer,
                        [&](ArrayAttr axes) { printAxisList(printer, axes, getHeadTailAxes()); });
  printer << ']';
  if (isFlat()) {
    printer << " flat " << getFlatFrom() << ' ';
    printAxisList(printer, getFlatAxes());
  }
  if (isPartial()) {
    printer << " partial " << stringifyReductionKind(getPartialKind()) << ' ';
    printAxisList(printer, getPartialAxes());
  }
  printer << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dimAxes, ArrayAttr flatAxes,
                                   int64_t flatFrom, ArrayAttr partialAxes, ReductionKind,
                                   ArrayAttr headTailAxes) {
  llvm::StringSet<> seen;
  auto addAll = [&](ArrayAttr axes) -> LogicalResult {
    for (Attribute axis : axes)
      if (!seen.insert(llvm::cast<StringAttr>(axis).getValue()).second)
        return emitError() << "(C2) axis " << axis << " occurs twice in a sharding";
    return success();
  };
  for (ArrayAttr axes : dimAxes)
    if (failed(addAll(axes)))
      return failure();
  if (failed(addAll(flatAxes)) || failed(addAll(partialAxes)))
    return failure();
  if (flatFrom < 0 || flatFrom > static_cast<int64_t>(dimAxes.size()))
    return emitError() << "(C3) flat starts at dimension " << flatFrom << " of a tensor of rank "
                       << dimAxes.size();
  for (ArrayAttr axes : dimAxes)
    if (llvm::count_if(axes, [&](Attribute a) { return llvm::is_contained(headTailAxes, a); }) > 1)
      return emitError() << "(C4) several axes of one dimension have head-tail order: " << axes;
  return success();
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context, int64_t rank) {
  ArrayAttr none = ArrayAttr::get(context, {});
  return get(context, SmallVector<ArrayAttr>(rank, none), none, 0, none, ReductionKind::Sum, none);
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() && !isFlat() &&
         llvm::all_of(getDimAxes(), [](ArrayAttr axes) { return axes.empty(); });
}

bool ShardingAttr::usesAxis(StringAttr axis) const {
  return llvm::is_contained(getFlatAxes(), axis) || llvm::is_contained(getPartialAxes(), axis) ||
         llvm::any_of(getDimAxes(), [&](ArrayAttr axes) { return llvm::is_contained(axes, axis); });
}

titan::ShardOrder ShardingAttr::getOrder(Attribute axis) const {
  return llvm::is_contained(getHeadTailAxes(), axis) ? ShardOrder::HeadTail : ShardOrder::Block;
}

StringAttr ShardingAttr::getHeadTailAxis(int64_t dim) const {
  for (auto axis : getDimAxes()[dim].getAsRange<StringAttr>())
    if (getOrder(axis) == ShardOrder::HeadTail)
      return axis;
  return {};
}

bool ShardingAttr::hasSameOrders(ShardingAttr other) const {
  auto shardsDim = [](ShardingAttr sharding, Attribute axis) {
    return llvm::any_of(sharding.getDimAxes(),
                        [&](ArrayAttr axes) { return llvm::is_contained(axes, axis); });
  };
  auto isSame = [&](Attribute axis) {
    return !shardsDim(*this, axis) || !shardsDim(other, axis) ||
           getOrder(axis) == other.getOrder(axis);
  };
  return llvm::all_of(getHeadTailAxes(), isSame) && llvm::all_of(other.getHeadTailAxes(), isSame);
}

ShardingAttr ShardingAttr::withDims(ArrayRef<ArrayAttr> dims, int64_t flatFrom) const {
  SmallVector<Attribute> headTail;
  for (ArrayAttr axes : dims)
    llvm::copy_if(axes, std::back_inserter(headTail),
                  [&](Attribute axis) { return getOrder(axis) == ShardOrder::HeadTail; });
  return get(getContext(), dims, getFlatAxes(), flatFrom, getPartialAxes(), getPartialKind(),
             ArrayAttr::get(getContext(), headTail));
}

ShardingAttr ShardingAttr::withPartial(ArrayAttr axes, ReductionKind kind) const {
  return get(getContext(), getDimAxes(), getFlatAxes(), getFlatFrom(), axes, kind,
             getHeadTailAxes());
}

ShardingAttr ShardingAttr::withFlat(ArrayAttr axes, int64_t from) const {
  return get(getContext(), getDimAxes(), axes, axes.empty() ? 0 : from, getPartialAxes(),
             getPartialKind(), getHeadTailAxes());
}

ShardingAttr ShardingAttr::withoutPartial() const {
  return withPartial(ArrayAttr::get(getContext(), {}), ReductionKind::Sum);
}

ShardingAttr ShardingAttr::withoutFlat() const {
  return withFlat(ArrayAttr::get(getContext(), {}), 0);
}
