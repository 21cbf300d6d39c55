// Draws cases of operations of neural networks: attention, rotary positions, selection, prefix
// sums.

#include "tests/ops/Generators.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using ir::DimAttr;

static void addFlag(Draw &draw, Case &result, StringRef name) {
  if (draw.chance())
    result.attributes.push_back(draw.builder.getNamedAttr(name, draw.builder.getUnitAttr()));
}

static Case drawRotary(Draw &draw) {
  DimAttr along = draw.dim(), dim = draw.dim(2 * draw.number(1, 3));
  Dims others = draw.dims(0, 2);
  Tensor input = draw.real(draw.reorder(unite({along, dim}, others)));
  Builder &b = draw.builder;
  Case result{{input},
              {input.type},
              {b.getNamedAttr("along", along.getName()), b.getNamedAttr("dim", dim.getName())}};
  if (draw.chance(0.3))
    result.operands.push_back(draw.integer(draw.reorder(draw.drawSome(others)), 0, 50));
  if (draw.chance(0.6)) {
    Attribute theta = b.getF64FloatAttr(draw.chance() ? 1e4 : 100);
    result.attributes.push_back(b.getNamedAttr("theta", theta));
  } else {
    SmallVector<double> frequencies(dim.getSize() / 2);
    for (double &frequency : frequencies)
      frequency = draw.fraction(0, 1);
    result.attributes.push_back(b.getNamedAttr("frequencies", b.getDenseF64ArrayAttr(frequencies)));
  }
  addFlag(draw, result, "interleaved");
  addFlag(draw, result, "inverse");
  return result;
}

namespace {

/// Dimensions of queries, keys and values: common ones and those of the queries only; and a mask.
struct Heads {
  DimAttr along, head, valueHead;
  Dims shared;                               ///< of queries and keys, besides positions and head
  Dims keys, values, queries, results, rows; ///< rows: queries without head
  std::vector<NamedAttribute> attributes;
  std::optional<Tensor> documents;

  explicit Heads(Draw &draw) : along(draw.dim(draw.number(1, 4))), head(draw.dim(2)) {
    shared = draw.dims(0, 2);
    valueHead = draw.chance() ? head : draw.dim(draw.number(1, 3));
    keys = draw.reorder(unite({along, head}, shared));
    values = draw.reorder(unite({along, valueHead}, shared));
    queries = draw.reorder(unite(keys, draw.dims(0, 1)));
    for (DimAttr dim : queries) {
      results.push_back(dim == head ? valueHead : dim);
      if (dim != head)
        rows.push_back(dim);
    }
    Builder &b = draw.builder;
    attributes = {b.getNamedAttr("along", along.getName()), b.getNamedAttr("head", head.getName()),
                  b.getNamedAttr("scale", b.getF64FloatAttr(draw.fraction(0.3, 1.5)))};
    if (draw.chance())
      attributes.push_back(b.getNamedAttr("causal", b.getUnitAttr()));
    if (draw.chance(0.3))
      attributes.push_back(b.getNamedAttr("window", b.getI64IntegerAttr(draw.number(1, 4))));
    if (draw.chance(0.3))
      attributes.push_back(b.getNamedAttr("soft_cap", b.getF64FloatAttr(draw.fraction(0.5, 3))));
    if (draw.chance(0.3))
      documents = draw.integer(draw.reorder(unite({along}, draw.drawSome(shared))), 0, 1);
  }
};

} // namespace

/// `dims` with the dimension of `chunk` cut to its size.
static Dims cut(Dims dims, DimAttr chunk) {
  for (DimAttr &dim : dims)
    if (dim.getName() == chunk.getName())
      dim = chunk;
  return dims;
}

static Case drawAttention(Draw &draw) {
  Heads heads(draw);
  const bool isChunk = draw.chance(0.3);
  const int64_t keys = heads.along.getSize(), queries = isChunk ? draw.number(1, keys) : keys;
  DimAttr chunk = DimAttr::get(draw.builder.getContext(), heads.along.getName(), queries);
  for (Dims *dims : {&heads.queries, &heads.results, &heads.rows})
    *dims = cut(*dims, chunk);
  Case result{{draw.real(heads.queries), draw.real(heads.keys), draw.real(heads.values)},
              {draw.type(heads.results), draw.type(heads.rows)},
              heads.attributes};
  if (heads.documents)
    result.operands.push_back(*heads.documents);
  if (isChunk)
    result.operands.push_back(
        draw.integer(draw.reorder(draw.drawSome(heads.shared)), 0, keys - queries));
  result.isDifferentiable = !isChunk;
  // Without the operand that makes the operation one step of ring attention.
  result.attributes.push_back(draw.builder.getNamedAttr(
      "operandSegmentSizes",
      draw.builder.getDenseI32ArrayAttr({1, 1, 1, heads.documents ? 1 : 0, 0, isChunk})));
  return result;
}

static Case drawAttentionGrad(Draw &draw) {
  Heads heads(draw);
  Case result{{draw.real(heads.results), draw.real(heads.queries), draw.real(heads.keys),
               draw.real(heads.values), draw.real(heads.results), draw.real(heads.rows)},
              {draw.type(heads.queries), draw.type(heads.keys), draw.type(heads.values)},
              heads.attributes};
  bool hasLseCotangent = draw.chance();
  if (hasLseCotangent)
    result.operands.push_back(draw.real(heads.rows));
  if (heads.documents)
    result.operands.push_back(*heads.documents);
  result.attributes.push_back(draw.builder.getNamedAttr(
      "operandSegmentSizes", draw.builder.getDenseI32ArrayAttr(
                                 {1, 1, 1, 1, 1, 1, hasLseCotangent, heads.documents ? 1 : 0, 0})));
  result.isDifferentiable = false;
  return result;
}

static Case drawTopK(Draw &draw) {
  DimAttr along = draw.dim(draw.number(1, 5)), chosen = draw.dim(draw.number(1, along.getSize()));
  Dims dims = draw.reorder(unite({along}, draw.dims(0, 2))), results = dims;
  std::replace(results.begin(), results.end(), along, chosen);
  return {{draw.real(dims)},
          {draw.type(results), draw.type(results).withElementType(draw.builder.getI64Type())},
          {draw.builder.getNamedAttr("along", along.getName())}};
}

static Case drawCumulativeSum(Draw &draw) {
  DimAttr along = draw.dim();
  Tensor input = draw.real(draw.reorder(unite({along}, draw.dims(0, 2))));
  Case result{{input}, {input.type}, {draw.builder.getNamedAttr("along", along.getName())}};
  addFlag(draw, result, "reverse");
  return result;
}

/// Indices, some of them out of range, counted over dimensions in any order.
static Case drawCumulativeCount(Draw &draw) {
  const Dims dims = draw.dims(1, 3);
  const int64_t size = draw.number(1, 5);
  SmallVector<Attribute> over;
  for (DimAttr dim : draw.reorder(dims))
    if (over.empty() || draw.chance())
      over.push_back(dim.getName());
  Builder &b = draw.builder;
  Tensor input = draw.integer(dims, -1, size);
  Case result{{input},
              {input.type},
              {b.getNamedAttr("along", b.getStringAttr("table")),
               b.getNamedAttr("size", b.getI64IntegerAttr(size)),
               b.getNamedAttr("over", b.getArrayAttr(over))}};
  result.isDifferentiable = false;
  return result;
}

void ops::addNeuralGenerators(Generators &generators) {
  generators["rotary"] = drawRotary;
  generators["attention"] = drawAttention;
  generators["attention_grad"] = drawAttentionGrad;
  generators["top_k"] = drawTopK;
  generators["cumulative_sum"] = drawCumulativeSum;
  generators["cumulative_count"] = drawCumulativeCount;
}
