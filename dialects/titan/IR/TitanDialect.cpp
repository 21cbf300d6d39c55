// Registration of the `titan` dialect.

#include "dialects/titan/IR/DiscardableAttributes.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan::ir;

#include "dialects/titan/IR/TitanDialect.cpp.inc"
#include "dialects/titan/IR/TitanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/titan/IR/TitanAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/titan/IR/TitanTypes.cpp.inc"

static bool areStrings(ArrayAttr list) {
  return !list || llvm::all_of(list, llvm::IsaPred<StringAttr>);
}

LogicalResult SettingAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute value,
                                  StringAttr takes, FloatAttr least, FloatAttr most,
                                  ArrayAttr choices, ArrayAttr idle) {
  if (!takes && (least || most || choices || idle))
    return emitError() << "(C1) a rule without `takes`";
  if (!takes)
    return success();
  bool isNumber = takes == "integer" || takes == "number";
  if (!isNumber && takes != "word" && takes != "text")
    return emitError() << "(C1) expected \"integer\", \"number\", \"word\" or \"text\", got "
                       << takes;
  if (isNumber != static_cast<bool>(least) || (takes == "word") != static_cast<bool>(choices))
    return emitError() << "(C2) " << takes << " needs " << (isNumber ? "`least`" : "`choices`");
  if (!areStrings(choices) || !areStrings(idle) || (idle && idle.size() != 2))
    return emitError() << "(C3) expected strings, and two of them in `idle`";
  return success();
}

namespace {
/// The constants that folding creates stay in the body that uses them, so that a body captures no
/// scalar and a loop reads none from memory.
struct FoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<RepeatOp, FusedOp>(region->getParentOp());
  }
};
} // namespace

void TitanDialect::initialize() {
  addInterfaces<FoldInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/titan/IR/TitanAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/titan/IR/TitanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/titan/IR/StructureOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/titan/IR/ElementwiseOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/titan/IR/TensorOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/titan/IR/NeuralOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/titan/IR/OrderOps.cpp.inc"
      >();
}

mlir::LogicalResult TitanDialect::verifyOperationAttribute(mlir::Operation *op,
                                                           mlir::NamedAttribute attribute) {
  return titan::ir::verifyDiscardable(op, titan::ir::getHolder(op), attribute);
}

mlir::LogicalResult TitanDialect::verifyRegionArgAttribute(mlir::Operation *op, unsigned /*region*/,
                                                           unsigned argument,
                                                           mlir::NamedAttribute attribute) {
  if (failed(titan::ir::verifyDiscardable(op, titan::ir::OnArgument, attribute)))
    return failure();
  return titan::ir::verifyArgumentRole(op, argument, attribute);
}

mlir::LogicalResult TitanDialect::verifyRegionResultAttribute(mlir::Operation *op,
                                                              unsigned /*region*/, unsigned result,
                                                              mlir::NamedAttribute attribute) {
  if (failed(titan::ir::verifyDiscardable(op, titan::ir::OnResult, attribute)))
    return failure();
  return titan::ir::verifyResultRole(op, result, attribute);
}

void titan::ir::setResultNamesFromLocation(Operation *op, OpAsmSetValueNameFn setName) {
  auto named = op->getLoc()->findInstanceOf<NameLoc>();
  if (!named || named.getName().empty())
    return;
  for (OpResult result : op->getResults())
    setName(result, named.getName().getValue());
}

/// Parses `name = size` and, for a renamed dimension, `of origin`.
static ParseResult parseDim(AsmParser &parser, DimAttr &dim) {
  std::string name, origin;
  int64_t size = 0;
  if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("of")) && parser.parseKeywordOrString(&origin))
    return failure();
  Builder &builder = parser.getBuilder();
  dim = DimAttr::get(parser.getContext(), builder.getStringAttr(name), size,
                     origin.empty() ? StringAttr() : builder.getStringAttr(origin));
  return success();
}

static void printDim(AsmPrinter &printer, DimAttr dim) {
  printer.printKeywordOrString(dim.getName().getValue());
  printer << " = " << dim.getSize();
  if (dim.getOrigin()) {
    printer << " of ";
    printer.printKeywordOrString(dim.getOrigin().getValue());
  }
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  DimAttr dim;
  if (parser.parseLess() || parseDim(parser, dim) || parser.parseGreater())
    return {};
  return dim;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDim(printer, *this);
  printer << '>';
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SmallVector<double> scale;
  double cut = 0;
  auto parseScale = [&]() { return parser.parseFloat(scale.emplace_back()); };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseScale))
    return {};
  if (succeeded(parser.parseOptionalKeyword("cut")) && parser.parseFloat(cut))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(word);
  if (!kind) {
    parser.emitError(loc, "unknown initialiser '") << word << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, DenseF64ArrayAttr::get(parser.getContext(), scale),
             parser.getBuilder().getF64FloatAttr(cut));
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyInitKind(getKind()) << ", [";
  llvm::interleaveComma(getScale().asArrayRef(), printer,
                        [&](double v) { printer.printFloat(llvm::APFloat(v)); });
  printer << ']';
  if (getCut().getValueAsDouble() != 0) {
    printer << " cut ";
    printer.printFloat(getCut().getValue());
  }
  printer << '>';
}

Type NamedTensorType::parse(AsmParser &parser) {
  Type element;
  SmallVector<DimAttr> dims;
  dist::ShardingAttr sharding;
  auto parseOne = [&]() { return parseDim(parser, dims.emplace_back()); };
  if (parser.parseLess() || parser.parseType(element) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    sharding = llvm::dyn_cast_or_null<dist::ShardingAttr>(dist::ShardingAttr::parse(parser, {}));
    if (!sharding)
      return {};
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseGreater())
    return {};
  auto complain = [&]() -> InFlightDiagnostic { return parser.emitError(loc); };
  function_ref<InFlightDiagnostic()> emitError = complain;
  return getChecked(emitError, parser.getContext(), element, ArrayRef<DimAttr>(dims), sharding);
}

void NamedTensorType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << '[';
  llvm::interleaveComma(getDims(), printer, [&](DimAttr dim) { printDim(printer, dim); });
  printer << ']';
  if (getSharding()) {
    printer << ", ";
    getSharding().print(printer);
  }
  printer << '>';
}
