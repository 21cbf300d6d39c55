// Random dimensions and values.

#include "tests/ops/Draw.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using ir::DimAttr;
using ir::NamedTensorType;

int64_t Draw::number(int64_t from, int64_t to) {
  return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
}

double Draw::fraction(double from, double to) {
  return from + (to - from) * static_cast<double>(random() >> 11) * 0x1p-53;
}

DimAttr Draw::dim(int64_t size) {
  constexpr int64_t sizes[] = {1, 2, 2, 3, 4, 4, 4, 6}, largeSizes[] = {33, 70, 257, 300};
  if (!size && mayBeLarge && chance(0.4)) {
    mayBeLarge = false;
    size = largeSizes[number(0, 3)];
  }
  std::string name(1, static_cast<char>('a' + numDims++));
  return DimAttr::get(builder.getContext(), builder.getStringAttr(name),
                      size ? size : sizes[number(0, 7)]);
}

Dims Draw::dims(int64_t from, int64_t to) {
  Dims dims;
  for (int64_t count = number(from, to); count > 0; --count)
    dims.push_back(dim());
  return dims;
}

Dims Draw::drawSome(ArrayRef<DimAttr> dims) {
  Dims some;
  for (DimAttr dim : dims)
    if (chance(0.6))
      some.push_back(dim);
  return chance(0.3) ? reorder(some) : some;
}

Dims Draw::reorder(Dims dims) {
  for (size_t i = dims.size(); i > 1; --i)
    std::swap(dims[i - 1], dims[number(0, static_cast<int64_t>(i) - 1)]);
  return dims;
}

NamedTensorType Draw::type(ArrayRef<DimAttr> dims) {
  return NamedTensorType::get(builder.getF64Type(), dims);
}

Tensor Draw::real(ArrayRef<DimAttr> dims, double from, double to) {
  Tensor tensor{type(dims), {}};
  int64_t count = tensor.type.getNumElements();
  // A random permutation of equidistant values; each tensor has another offset in eighths of a
  // step.
  double shift = static_cast<double>(numTensors++ % 8) / 8;
  for (int64_t i = 0; i < count; ++i)
    tensor.values.push_back(from + (to - from) * (static_cast<double>(i) + shift) /
                                       static_cast<double>(count));
  for (int64_t i = count; i > 1; --i)
    std::swap(tensor.values[i - 1], tensor.values[number(0, i - 1)]);
  return tensor;
}

Tensor Draw::integer(ArrayRef<DimAttr> dims, int64_t from, int64_t to) {
  Tensor tensor{NamedTensorType::get(builder.getI64Type(), dims), {}};
  for (int64_t i = tensor.type.getNumElements(); i > 0; --i)
    tensor.values.push_back(static_cast<double>(number(from, to)));
  return tensor;
}

Tensor Draw::boolean(ArrayRef<DimAttr> dims) {
  Tensor tensor = integer(dims, 0, 1);
  tensor.type = tensor.type.withElementType(builder.getI1Type());
  return tensor;
}

Dims ops::unite(ArrayRef<DimAttr> a, ArrayRef<DimAttr> b) {
  Dims all(a);
  for (DimAttr dim : b)
    if (!llvm::is_contained(all, dim))
      all.push_back(dim);
  return all;
}
