// Parser and printer of the repeat.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static ParseResult parseNumbers(OpAsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  DimAttr dim;
  SmallVector<OpAsmParser::UnresolvedOperand> inits, scanned;
  SmallVector<int64_t> table;
  VariantLists scannedUsers, stackedUsers;
  if (parser.parseCustomAttributeWithFallback(dim))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setDim(dim);
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.setReverse(builder.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("table"))) {
    if (parseNumbers(parser, table))
      return failure();
    properties.setTable(builder.getDenseI64ArrayAttr(table));
  }
  auto parseScanned = [&]() -> ParseResult {
    if (parser.parseOperand(scanned.emplace_back()))
      return failure();
    SmallVector<int64_t> &users = scannedUsers.emplace_back();
    return succeeded(parser.parseOptionalKeyword("for")) ? parseNumbers(parser, users) : success();
  };
  auto parseStacked = [&] { return parseNumbers(parser, stackedUsers.emplace_back()); };
  FunctionType types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("iter_args") ||
      parser.parseOperandList(inits, AsmParser::Delimiter::Paren) ||
      parser.parseKeyword("scanned") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseScanned) ||
      (succeeded(parser.parseOptionalKeyword("stacked")) &&
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseStacked)) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(types))
    return failure();
  properties.setOperandSegmentSizes(
      {static_cast<int>(inits.size()), static_cast<int>(scanned.size())});
  properties.setScannedUsers(packUsers(builder, scannedUsers, countVariants(table)));
  properties.setStackedUsers(packUsers(builder, stackedUsers, countVariants(table)));
  do
    if (parser.parseRegion(*state.addRegion()))
      return failure();
  while (succeeded(parser.parseOptionalComma()));
  // After the bodies: the parser resolves an undefined operand by the next definition of its name,
  // which may be inside a body.
  llvm::append_range(inits, scanned);
  if (parser.resolveOperands(inits, types.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(types.getResults());
  return success();
}

static void printNumbers(OpAsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printStrippedAttrOrType(getDim());
  if (getReverse())
    printer << " reverse";
  if (std::optional<ArrayRef<int64_t>> table = getTable()) {
    printer << " table ";
    printNumbers(printer, *table);
  }
  printer << " iter_args(" << getInits() << ") scanned(";
  llvm::interleaveComma(llvm::enumerate(getScannedInputs()), printer, [&](auto input) {
    printer << input.value();
    SmallVector<int64_t> users = getScannedUsers(input.index());
    if (users.size() == getNumVariants())
      return;
    printer << " for ";
    printNumbers(printer, users);
  });
  printer << ')';
  if (getStackedUsers()) {
    printer << " stacked(";
    llvm::interleaveComma(getAllStackedUsers(), printer,
                          [&](const auto &users) { printNumbers(printer, users); });
    printer << ')';
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dim", "reverse", "table", "scanned_users",
                                                      "stacked_users", "operandSegmentSizes"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  llvm::interleaveComma(getBodies(), printer, [&](Region &body) { printer.printRegion(body); });
}
