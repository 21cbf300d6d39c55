// Draws cases of elementwise operations.

#include "tests/ops/Generators.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;

/// One operand with values in a range (in tenths) where the function is smooth.
template <int from, int to> static Case drawUnary(Draw &draw) {
  Tensor input = draw.real(draw.dims(0, 3), from / 10.0, to / 10.0);
  return {{input}, {input.type}};
}

/// The dimensions of two operands that broadcast: equal, subsets of the result's, or none.
static std::pair<Dims, Dims> drawJoined(Draw &draw) {
  Dims all = draw.dims(0, 3);
  if (draw.chance(0.3))
    return {all, all};
  return {draw.drawSome(all), draw.drawSome(all)};
}

/// Two operands; a positive `from` (in tenths) keeps a divisor away from 0.
template <int from> static Case drawBinary(Draw &draw) {
  auto [lhs, rhs] = drawJoined(draw);
  Dims result = unite(lhs, rhs);
  if (draw.chance(0.2))
    result = draw.reorder(result);
  return {{draw.real(lhs), draw.real(rhs, from / 10.0, 1.5)}, {draw.type(result)}};
}

/// An integer divisor may be 0.
static Case drawDiv(Draw &draw) {
  if (draw.chance(0.8))
    return drawBinary<5>(draw);
  auto [lhs, rhs] = drawJoined(draw);
  Type integer = draw.builder.getI64Type();
  Case drawn{{draw.integer(lhs, -20, 20), draw.integer(rhs, -3, 3)},
             {draw.type(unite(lhs, rhs)).withElementType(integer)}};
  drawn.isDifferentiable = false;
  return drawn;
}

static Case drawCompare(Draw &draw) {
  auto [lhs, rhs] = drawJoined(draw);
  bool isReal = draw.chance();
  auto value = [&](const Dims &dims) {
    return isReal ? draw.real(dims) : draw.integer(dims, -2, 2);
  };
  auto predicate = static_cast<ir::ComparePredicate>(draw.number(0, 5));
  return {{value(lhs), value(rhs)},
          {draw.type(unite(lhs, rhs)).withElementType(draw.builder.getI1Type())},
          {draw.builder.getNamedAttr(
              "predicate", ir::ComparePredicateAttr::get(draw.builder.getContext(), predicate))}};
}

static Case drawSelect(Draw &draw) {
  Dims all = draw.dims(0, 3);
  Dims operandDims[3];
  for (Dims &each : operandDims)
    each = draw.chance(0.4) ? all : draw.drawSome(all);
  return {{draw.boolean(operandDims[0]), draw.real(operandDims[1]), draw.real(operandDims[2])},
          {draw.type(unite(unite(operandDims[0], operandDims[1]), operandDims[2]))}};
}

static Case drawCast(Draw &draw) {
  Builder &b = draw.builder;
  Type types[] = {b.getF64Type(), b.getF32Type(), b.getBF16Type(), b.getI64Type(), b.getI1Type()};
  Dims dims = draw.dims(0, 3);
  Tensor input = draw.boolean(dims);
  Type from = types[draw.number(0, 4)], to = types[draw.number(0, 3)];
  if (isa<FloatType>(from)) {
    // Multiples of 1/8 are exact in every type, so that only the conversion is tested.
    input = draw.integer(dims, -20, 20);
    for (double &value : input.values)
      value /= 8;
    to = types[draw.number(0, 2)];
  }
  input.type = input.type.withElementType(from);
  return {{input}, {input.type.withElementType(to)}};
}

static Case drawCopy(Draw &draw) {
  Tensor input = draw.real(draw.dims(0, 3));
  Case result{{input}, {input.type}};
  result.isDifferentiable = false;
  return result;
}

static Case drawExpand(Draw &draw) {
  Dims all = draw.dims(0, 3);
  return {{draw.real(draw.drawSome(all))}, {draw.type(all)}};
}

static Case drawConstant(Draw &draw) {
  return {{},
          {draw.type({})},
          {draw.builder.getNamedAttr("value", draw.builder.getF64FloatAttr(draw.fraction(-2, 2)))}};
}

static Case drawIota(Draw &draw) {
  return {{}, {draw.type(draw.dim()).withElementType(draw.builder.getI64Type())}};
}

/// Two keys, and a start in each dimension of which the result is a chunk.
static Case drawRandom(Draw &draw) {
  Builder &b = draw.builder;
  auto kind = static_cast<ir::RandomKind>(draw.number(0, 1));
  Case result{{draw.integer({}, 0, 9), draw.integer({}, 1, 99)}, {draw.type(draw.dims(0, 3))}};
  SmallVector<Attribute> whole;
  for (ir::DimAttr dim : result.results[0].getDims())
    if (draw.chance(0.4)) {
      int64_t more = draw.number(0, 9);
      whole.push_back(ir::DimAttr::get(b.getContext(), dim.getName(), dim.getSize() + more));
      result.operands.push_back(draw.integer({}, 0, more));
    }
  int32_t starts = whole.size();
  result.attributes = {
      b.getNamedAttr("kind", ir::RandomKindAttr::get(b.getContext(), kind)),
      b.getNamedAttr("stream", b.getStringAttr("x." + std::to_string(draw.number(0, 9)))),
      b.getNamedAttr("whole", b.getArrayAttr(whole)),
      b.getNamedAttr("operandSegmentSizes", b.getDenseI32ArrayAttr({2, starts}))};
  return result;
}

/// The scalar function @update of every module (Programs.cpp): parameter, gradient, state, rate.
static Case drawApply(Draw &draw) {
  Dims dims = draw.dims(1, 3);
  Case result{{draw.real(dims), draw.real(dims), draw.real(dims), draw.real({}, 0.001, 0.1)},
              {draw.type(dims), draw.type(dims)}};
  result.attributes.push_back(draw.builder.getNamedAttr(
      "function", FlatSymbolRefAttr::get(draw.builder.getContext(), "update")));
  result.isDifferentiable = false;
  return result;
}

static Case drawPow(Draw &draw) {
  auto [lhs, rhs] = drawJoined(draw);
  return {{draw.real(lhs, 0.25, 3), draw.real(rhs)}, {draw.type(unite(lhs, rhs))}};
}

void ops::addElementwiseGenerators(Generators &generators) {
  for (const char *name : {"neg", "exp", "tanh", "sigmoid", "erf", "sin", "cos"})
    generators[name] = drawUnary<-15, 15>;
  generators["floor"] = drawUnary<-9, -1>; // between two jumps
  for (const char *name : {"log", "sqrt", "rsqrt"})
    generators[name] = drawUnary<5, 25>;
  for (const char *name : {"add", "sub", "mul", "maximum", "minimum"})
    generators[name] = drawBinary<-15>;
  generators["div"] = drawDiv;
  generators["compare"] = drawCompare;
  generators["select"] = drawSelect;
  generators["cast"] = drawCast;
  generators["copy"] = drawCopy;
  generators["expand"] = drawExpand;
  generators["constant"] = drawConstant;
  generators["iota"] = drawIota;
  generators["random"] = drawRandom;
  generators["pow"] = drawPow;
  generators["apply"] = drawApply;
}
