// Draws cases of contractions, reductions, indexing, and changes of dimensions.

#include "tests/ops/Generators.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using ir::DimAttr;

static NamedAttribute named(Draw &draw, StringRef key, DimAttr dim) {
  return draw.builder.getNamedAttr(key, dim.getName());
}

static Case drawIdentity(Draw &draw) {
  Tensor input = draw.real(draw.dims(0, 3));
  return {{input}, {input.type}};
}

/// Batch dimensions, dimensions of one operand, and summed ones. The sum may start from a tensor.
static Case drawContract(Draw &draw) {
  if (draw.chance(0.15)) { // a full product, as in the norm of the gradient
    Dims dims = draw.dims(1, 3);
    return {{draw.real(dims), draw.real(dims)}, {draw.type({})}};
  }
  Dims batch = draw.dims(0, 1), left = draw.dims(0, 1), right = draw.dims(0, 1),
       sum = draw.dims(0, 2);
  Dims lhs = draw.reorder(unite(unite(batch, left), sum)),
       rhs = draw.reorder(unite(unite(batch, sum), right)),
       result = draw.reorder(unite(unite(batch, left), right));
  std::vector<Tensor> operands = {draw.real(lhs), draw.real(rhs)};
  if (draw.chance(0.3))
    operands.push_back(draw.real(result));
  return {operands, {draw.type(result)}};
}

/// A table of matrices, as the right operand or as the result. The indices share dimensions with
/// the rows, and sometimes with the table. Rows may be sums over several indices. The sum may start
/// from a tensor.
static Case drawGroupedContract(Draw &draw) {
  DimAttr along = draw.dim();
  Dims indices = draw.dims(1, 2), own = draw.dims(0, 1), left = draw.dims(0, 1),
       right = draw.dims(0, 1);
  Dims shared = draw.chance(0.3) ? draw.drawSome(indices) : Dims();
  bool readsTable = draw.chance();
  Dims ofLhs = draw.drawSome(indices), ofRows = indices;
  if (readsTable && draw.chance(0.3)) {
    Dims summed = draw.drawSome(unite(ofLhs, shared));
    llvm::erase_if(ofRows, [&](DimAttr dim) { return llvm::is_contained(summed, dim); });
  }
  Dims lhs = draw.reorder(unite(unite(ofLhs, own), left)),
       other = draw.reorder(unite(unite(ofRows, own), right)),
       table = draw.reorder(unite(unite(unite({along}, shared), left), right));
  const Dims &result = readsTable ? other : table;
  std::vector<Tensor> operands = {draw.real(lhs), draw.real(readsTable ? table : other),
                                  draw.integer(indices, 0, along.getSize() - 1)};
  if (draw.chance(0.3))
    operands.push_back(draw.real(result));
  return {operands, {draw.type(result)}, {named(draw, "along", along)}};
}

static Case drawReduce(Draw &draw) {
  Dims dims = draw.dims(0, 3);
  auto kind = static_cast<dist::ReductionKind>(draw.number(0, 2));
  Tensor input = draw.real(dims);
  if (draw.chance(0.15))
    input = draw.integer(dims, -5, 5);
  else if (kind != dist::ReductionKind::Sum && draw.chance(0.2))
    input = draw.boolean(dims);
  Case drawn{{input},
             {draw.type(draw.drawSome(dims)).withElementType(input.type.getElementType())},
             {draw.builder.getNamedAttr(
                 "kind", dist::ReductionKindAttr::get(draw.builder.getContext(), kind))}};
  drawn.isDifferentiable = isa<FloatType>(input.type.getElementType());
  return drawn;
}

static Case drawCheckIndex(Draw &draw) {
  DimAttr along = draw.dim();
  Tensor input = draw.integer(draw.dims(0, 3), 0, along.getSize() - 1);
  Case drawn{{input},
             {input.type},
             {named(draw, "along", along),
              draw.builder.getNamedAttr("size", draw.builder.getI64IntegerAttr(along.getSize()))}};
  drawn.isDifferentiable = false;
  return drawn;
}

/// An indexed dimension, the dimensions of the indices and of the rows, and common ones.
struct Indexing {
  DimAttr along;
  Dims rows, indices;
  explicit Indexing(Draw &draw) : along(draw.dim()), rows(draw.dims(0, 2)) {
    indices = unite(draw.drawSome(rows), draw.dims(0, 1));
  }
};

static Case drawGather(Draw &draw) {
  Indexing indexing(draw);
  Dims table = draw.reorder(unite({indexing.along}, indexing.rows));
  int64_t size = indexing.along.getSize();
  return {{draw.real(table), draw.integer(indexing.indices, 0, size - 1)},
          {draw.type(draw.reorder(unite(indexing.rows, indexing.indices)))},
          {named(draw, "along", indexing.along)}};
}

/// The updates may have summed dimensions: of the indices, or their own. The sum may start from a
/// tensor.
static Case drawScatter(Draw &draw) {
  Indexing indexing(draw);
  Dims updates = unite(indexing.indices, indexing.rows), result = {indexing.along};
  for (DimAttr dim : updates)
    if (draw.chance(0.6))
      result.push_back(dim);
  int64_t size = indexing.along.getSize();
  result = draw.reorder(result);
  std::vector<Tensor> operands = {draw.real(draw.reorder(updates)),
                                  draw.integer(indexing.indices, 0, size - 1)};
  if (draw.chance())
    operands.push_back(draw.real(result));
  return {operands, {draw.type(result)}, {named(draw, "along", indexing.along)}};
}

static Case drawRename(Draw &draw) {
  Dims dims = draw.dims(0, 3), renamed;
  for (DimAttr dim : dims)
    renamed.push_back(draw.chance() ? dim : draw.dim(dim.getSize()));
  return {{draw.real(dims)}, {draw.type(renamed)}};
}

/// A tensor, and the same with one dimension split into several.
static Case drawRefined(Draw &draw, bool isSplit) {
  Dims fine = draw.dims(1, 4), coarse;
  int64_t at = draw.number(0, static_cast<int64_t>(fine.size()) - 1);
  int64_t count = draw.number(1, static_cast<int64_t>(fine.size()) - at), product = 1;
  for (DimAttr dim : ArrayRef(fine).slice(at, count))
    product *= dim.getSize();
  DimAttr whole = draw.dim(product);
  coarse.append(fine.begin(), fine.begin() + at);
  coarse.push_back(whole);
  coarse.append(fine.begin() + at + count, fine.end());
  return {{draw.real(isSplit ? coarse : fine)},
          {draw.type(isSplit ? fine : coarse)},
          {named(draw, "dim", whole)}};
}
static Case drawSplit(Draw &draw) {
  return drawRefined(draw, true);
}
static Case drawMerge(Draw &draw) {
  return drawRefined(draw, false);
}

/// A tensor and a range of one of its dimensions, possibly under another name.
static Case drawRange(Draw &draw, bool isSlice) {
  Dims whole = draw.dims(1, 3), sliceDims = whole;
  int64_t at = draw.number(0, static_cast<int64_t>(whole.size()) - 1);
  int64_t size = draw.number(1, whole[at].getSize());
  DimAttr other = draw.dim(size);
  StringAttr name = draw.chance() ? whole[at].getName() : other.getName();
  sliceDims[at] = DimAttr::get(draw.builder.getContext(), name, size);
  int64_t offset = draw.number(0, whole[at].getSize() - size);
  return {{draw.real(isSlice ? whole : sliceDims)},
          {draw.type(isSlice ? sliceDims : whole)},
          {named(draw, "dim", whole[at]),
           draw.builder.getNamedAttr("offset", draw.builder.getI64IntegerAttr(offset))}};
}
static Case drawSlice(Draw &draw) {
  return drawRange(draw, true);
}
static Case drawPad(Draw &draw) {
  return drawRange(draw, false);
}

static Case drawInsertSlice(Draw &draw) {
  Dims whole = draw.dims(1, 3), slice = whole;
  const auto at = static_cast<size_t>(draw.number(0, static_cast<int64_t>(whole.size()) - 1));
  const int64_t size = draw.number(1, whole[at].getSize());
  slice[at] = DimAttr::get(draw.builder.getContext(), whole[at].getName(), size);
  Dims others = whole;
  others.erase(others.begin() + at);
  Tensor start = draw.integer(draw.reorder(draw.drawSome(others)), 0, whole[at].getSize() - size);
  Case result{{draw.real(slice), draw.real(whole), start},
              {draw.type(whole)},
              {named(draw, "dim", whole[at])}};
  result.isDifferentiable = false; // only generation uses it
  return result;
}

void ops::addTensorGenerators(Generators &generators) {
  generators["sharding_constraint"] = drawIdentity;
  generators["stop_gradient"] = drawIdentity;
  generators["contract"] = drawContract;
  generators["grouped_contract"] = drawGroupedContract;
  generators["reduce"] = drawReduce;
  generators["check_index"] = drawCheckIndex;
  generators["gather"] = drawGather;
  generators["scatter"] = drawScatter;
  generators["rename"] = drawRename;
  generators["split"] = drawSplit;
  generators["merge"] = drawMerge;
  generators["slice"] = drawSlice;
  generators["pad"] = drawPad;
  generators["insert_slice"] = drawInsertSlice;
}
