//===- Sharding.cpp - Syntax and constraints of shardings -----------------===//

#include "dialects/dist/IR/Dist.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace titan::dist;

/// Parses `{a, b}` into an array of strings.
static ParseResult parseAxisList(AsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisList(AsmPrinter &printer, ArrayAttr axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printer.printKeywordOrString(llvm::cast<StringAttr>(axis).getValue());
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
  auto parseDim = [&]() { return parseAxisList(parser, dims.emplace_back()); };
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
                    partial, kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDimAxes(), printer,
                        [&](ArrayAttr axes) { printAxisList(printer, axes); });
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
                                   int64_t flatFrom, ArrayAttr partialAxes, ReductionKind) {
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
  return success();
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context, int64_t rank) {
  ArrayAttr none = ArrayAttr::get(context, {});
  return get(context, SmallVector<ArrayAttr>(rank, none), none, 0, none, ReductionKind::Sum);
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() && !isFlat() &&
         llvm::all_of(getDimAxes(), [](ArrayAttr axes) { return axes.empty(); });
}

bool ShardingAttr::usesAxis(StringAttr axis) const {
  return llvm::is_contained(getFlatAxes(), axis) || llvm::is_contained(getPartialAxes(), axis) ||
         llvm::any_of(getDimAxes(), [&](ArrayAttr axes) { return llvm::is_contained(axes, axis); });
}

ShardingAttr ShardingAttr::withDimAxes(int64_t dim, ArrayAttr axes) const {
  SmallVector<ArrayAttr> dims(getDimAxes());
  dims[dim] = axes;
  return get(getContext(), dims, getFlatAxes(), getFlatFrom(), getPartialAxes(), getPartialKind());
}

ShardingAttr ShardingAttr::withPartial(ArrayAttr axes, ReductionKind kind) const {
  return get(getContext(), getDimAxes(), getFlatAxes(), getFlatFrom(), axes, kind);
}

ShardingAttr ShardingAttr::withFlat(ArrayAttr axes, int64_t from) const {
  return get(getContext(), getDimAxes(), axes, axes.empty() ? 0 : from, getPartialAxes(),
             getPartialKind());
}

ShardingAttr ShardingAttr::withoutPartial() const {
  return withPartial(ArrayAttr::get(getContext(), {}), ReductionKind::Sum);
}

ShardingAttr ShardingAttr::withoutFlat() const {
  return withFlat(ArrayAttr::get(getContext(), {}), 0);
}
