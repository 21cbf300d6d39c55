// Estimates what an axis sends for products of rows with tables of parameters.

#include "dialects/dist/Transforms/Shard/TableTraffic.h"

#include "dialects/titan/IR/OpTraits.h"
#include "dialects/titan/IR/RepeatVariant.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

/// The parameter that `value` is, up to casts and views; null if it is none. A slot of a stacked
/// parameter counts as one.
static Value findParameter(Value value) {
  if (Operation *op = value.getDefiningOp()) {
    const bool isSame = op->hasTrait<ir::View>() || isa<ir::CastOp, ir::ShardingConstraintOp>(op);
    return isSame && op->getNumOperands() == 1 ? findParameter(op->getOperand(0)) : Value();
  }
  auto argument = cast<BlockArgument>(value);
  if (std::optional<ir::RepeatVariant> body = ir::findVariant(argument.getOwner())) {
    for (const ir::RepeatVariant::ScannedInput &scanned : body->getScannedInputs())
      if (scanned.slot == argument)
        return findParameter(scanned.input) ? value : Value();
    return {};
  }
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function && function.getArgAttr(argument.getArgNumber(), ir::attr::kParam) ? value
                                                                                    : Value();
}

std::optional<TableTraffic::Product> TableTraffic::readProduct(Operation *op) {
  Product product;
  if (auto grouped = dyn_cast<ir::GroupedContractOp>(op)) {
    if (grouped.getTable() != grouped.getRhs())
      return std::nullopt;
    NamedTensorType table = ir::getTensorType(grouped.getRhs());
    product = {grouped.getLhs(), grouped.getRhs(), findParameter(grouped.getRhs())};
    product.shared.push_back(table.getDims()[table.findDimIndex(grouped.getAlongAttr())]);
    llvm::append_range(product.own, ir::getTensorType(grouped.getIndices()).getDims());
    product.isGrouped = true;
  } else if (auto contract = dyn_cast<ir::ContractOp>(op)) {
    product = {contract.getLhs(), contract.getRhs(), findParameter(contract.getRhs())};
    if (!product.parameter)
      product = {contract.getRhs(), contract.getLhs(), findParameter(contract.getLhs())};
    NamedTensorType table = ir::getTensorType(product.table);
    for (ir::DimAttr dim : ir::getTensorType(product.rows).getDims())
      if (!table.hasDim(dim.getName()))
        product.own.push_back(dim);
      else if (contract.getResult().getType().hasDim(dim.getName()))
        product.shared.push_back(dim);
  }
  const bool isProduct = product.parameter && !product.shared.empty();
  return isProduct ? std::optional(std::move(product)) : std::nullopt;
}

/// The positions in `shards` of the dimensions that the axis can shard.
std::set<size_t> TableTraffic::findListed(ArrayRef<ir::DimAttr> dims) const {
  const AxisInfo &info = mesh.getAxes()[axis];
  const size_t size = mesh.getRules(axis).getShards().size();
  std::set<size_t> listed;
  for (ir::DimAttr dim : dims) {
    const size_t at = getPreference(info, dim.getName().str(),
                                    dim.getOrigin() ? dim.getOrigin().str() : std::string());
    if (at < size && canSplit(dim.getSize(), 1, info))
      listed.insert(at);
  }
  return listed;
}

/// The elements that the other axes leave to the ranks of this axis together.
double TableTraffic::countElements(NamedTensorType type) const {
  double elements = 1;
  for (ir::DimAttr dim : type.getDims())
    elements *= static_cast<double>(dim.getSize());
  for (size_t other = 0; other < mesh.getNumAxes(); ++other) {
    const AxisInfo &info = mesh.getAxes()[other];
    const bool shards = llvm::any_of(type.getDims(), [&](ir::DimAttr dim) {
      return getPreference(info, dim.getName().str(),
                           dim.getOrigin() ? dim.getOrigin().str() : std::string()) <
             info.preference.size();
    });
    if (other != axis && shards)
      elements /= static_cast<double>(std::max<int64_t>(1, info.degree));
  }
  return elements;
}

/// The bytes of an element; of an `other` one if the type is absent.
static double getWidth(Type element, double other = 0) {
  return element ? element.getIntOrFloatBitWidth() / 8.0 : other;
}

/// Rows that select matrices are gathered, and sums of their results are reduced. Lists of rows are
/// exchanged, so a rank sends only those of others.
void TableTraffic::addRows(Operation *op, const Product &product, ir::PrecisionAttr precision) {
  NamedTensorType type = ir::getTensorType(product.rows);
  const double elements = countElements(type) * static_cast<double>(ir::countExecutions(op)),
               width = getWidth(type.getElementType());
  const double there = product.isGrouped ? width : width / mesh.getAxes()[axis].degree;
  const double back = product.isGrouped ? getWidth(precision.getActivationsReduce(), width) : there;
  moved += passes * elements * (there + back);
}

bool TableTraffic::addProduct(Operation *op, const Product &product, ir::PrecisionAttr precision) {
  std::set<size_t> ofTable = findListed(product.shared), ofRows = findListed(product.own);
  if (ofTable.empty() || ofRows.empty())
    return false;
  tables.insert(ofTable.begin(), ofTable.end());
  rows.insert(ofRows.begin(), ofRows.end());
  if (!computed.contains(product.rows)) {
    for (ir::DimAttr dim : ir::getTensorType(op->getResult(0)).getDims())
      if (!ir::getTensorType(product.rows).hasDim(dim.getName()) &&
          !llvm::is_contained(product.own, dim))
        free.insert(dim.getName());
    if (counted.insert(product.rows).second)
      addRows(op, product, precision);
  }
  if (!counted.insert(product.parameter).second)
    return true;
  NamedTensorType type = ir::getTensorType(product.table);
  const double width = getWidth(type.getElementType());
  gathered += countElements(type) * static_cast<double>(ir::countExecutions(op)) * microbatches *
              (2 * width + getWidth(precision.getReduce(), width));
  return true;
}

/// The results that have a dimension that products added are where the products are.
void TableTraffic::addComputed(Operation *op) {
  for (Value result : op->getResults())
    if (llvm::any_of(ir::getTensorType(result).getDims(),
                     [&](ir::DimAttr dim) { return free.contains(dim.getName()); }))
      computed.insert(result);
}

void TableTraffic::add(func::FuncOp program) {
  auto precision = ir::PrecisionAttr::lookup(program);
  auto accumulate = program->getAttrOfType<DictionaryAttr>(ir::attr::kAccumulate);
  auto count = accumulate ? accumulate.getAs<IntegerAttr>("microbatches") : IntegerAttr();
  microbatches = count ? static_cast<double>(count.getInt()) : 1;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<func::FuncOp, ir::RepeatOp>(op))
      return;
    std::optional<Product> product = readProduct(op);
    const bool isProduct = product && addProduct(op, *product, precision);
    if (isProduct || llvm::any_of(op->getOperands(), [&](Value v) { return computed.contains(v); }))
      addComputed(op);
  });
}
