// Adds padding to tensors, and removes it.

#include "compiler/interpreter/Padding.h"

#include "compiler/interpreter/Format.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

NamedTensorType interpreter::getUnpadded(NamedTensorType type, Attribute unpadded) {
  auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(unpadded);
  if (!sizes)
    return type;
  SmallVector<ir::DimAttr> dims;
  for (auto [dim, size] : llvm::zip_equal(type.getDims(), sizes.asArrayRef()))
    dims.push_back(ir::DimAttr::get(dim.getContext(), dim.getName(), size, dim.getOrigin()));
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}

/// The row-major index in a tensor of shape `inner` of the element that has index `at` in a tensor
/// of the larger shape `outer`; -1 if `inner` lacks the element.
static int64_t locate(int64_t at, ArrayRef<int64_t> outer, ArrayRef<int64_t> inner) {
  int64_t index = 0, stride = 1;
  for (size_t d = outer.size(); d-- > 0; at /= outer[d], stride *= inner[d]) {
    if (at % outer[d] >= inner[d])
      return -1;
    index += at % outer[d] * stride;
  }
  return index;
}

HostTensor interpreter::addPadding(const HostTensor &tensor, ArrayRef<int64_t> shape) {
  HostTensor padded;
  padded.shape.assign(shape.begin(), shape.end());
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  for (int64_t at = 0; at < size; ++at) {
    int64_t index = locate(at, shape, tensor.shape);
    padded.data.push_back(index < 0 ? 0.0 : tensor.data[index]);
  }
  return padded;
}

FailureOr<HostTensor> interpreter::removePadding(const HostTensor &tensor, ArrayRef<int64_t> shape,
                                                 function_ref<InFlightDiagnostic()> emitError) {
  HostTensor unpadded;
  unpadded.shape.assign(shape.begin(), shape.end());
  for (auto [at, value] : llvm::enumerate(tensor.data)) {
    if (locate(at, tensor.shape, shape) >= 0)
      unpadded.data.push_back(value);
    else if (value != 0)
      return emitError() << "padding must be 0, but element " << at << " is " << format(value);
  }
  return unpadded;
}
