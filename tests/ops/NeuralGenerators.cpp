//===- NeuralGenerators.cpp - Cases of the composites ---------------------===//

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
  Tensor input = draw.real(draw.reorder(unite({along, dim}, draw.dims(0, 1))));
  Builder &b = draw.builder;
  Case result{{input},
              {input.type},
              {b.getNamedAttr("along", along.getName()), b.getNamedAttr("dim", dim.getName()),
               b.getNamedAttr("theta", b.getF64FloatAttr(draw.chance() ? 1e4 : 100))}};
  addFlag(draw, result, "interleaved");
  addFlag(draw, result, "inverse");
  return result;
}

namespace {

/// Queries, keys and values: dimensions that all have, and those of the queries alone.
struct Heads {
  DimAttr along, head;
  Dims keys, queries, rows; ///< rows: queries without head
  std::vector<NamedAttribute> attributes;

  explicit Heads(Draw &draw) : along(draw.dim(draw.number(1, 4))), head(draw.dim(2)) {
    keys = draw.reorder(unite({along, head}, draw.dims(0, 1)));
    queries = draw.reorder(unite(keys, draw.dims(0, 1)));
    for (DimAttr dim : queries)
      if (dim != head)
        rows.push_back(dim);
    Builder &b = draw.builder;
    attributes = {b.getNamedAttr("along", along.getName()), b.getNamedAttr("head", head.getName()),
                  b.getNamedAttr("scale", b.getF64FloatAttr(draw.fraction(0.3, 1.5)))};
  }
};

} // namespace

static Case drawAttention(Draw &draw) {
  Heads heads(draw);
  Case result{{draw.real(heads.queries), draw.real(heads.keys), draw.real(heads.keys)},
              {draw.type(heads.queries), draw.type(heads.rows)},
              heads.attributes};
  addFlag(draw, result, "causal");
  result.withoutGradient = {1};
  return result;
}

static Case drawAttentionGrad(Draw &draw) {
  Heads heads(draw);
  Case result{{draw.real(heads.queries), draw.real(heads.queries), draw.real(heads.keys),
               draw.real(heads.keys), draw.real(heads.queries), draw.real(heads.rows)},
              {draw.type(heads.queries), draw.type(heads.keys), draw.type(heads.keys)},
              heads.attributes};
  addFlag(draw, result, "causal");
  result.isDifferentiable = false;
  return result;
}

void ops::addNeuralGenerators(Generators &generators) {
  generators["rotary"] = drawRotary;
  generators["attention"] = drawAttention;
  generators["attention_grad"] = drawAttentionGrad;
}
