// Verification of weight maps.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

LogicalResult StoredParameterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          StringAttr parameter, StringAttr tensor,
                                          DenseI64ArrayAttr shape, int64_t start,
                                          DenseI64ArrayAttr sizes, DenseI64ArrayAttr strides) {
  if (sizes.size() != strides.size())
    return emitError() << "(C1) " << parameter << " has " << sizes.size() << " sizes and "
                       << strides.size() << " strides";
  int64_t elements = 1, last = start;
  for (int64_t size : shape.asArrayRef())
    elements *= size;
  for (auto [size, stride] : llvm::zip_equal(sizes.asArrayRef(), strides.asArrayRef())) {
    if (size < 1 || stride < 0)
      return emitError() << "(C2) " << parameter << " has the size " << size << " with the stride "
                         << stride;
    last += (size - 1) * stride;
  }
  if (start < 0 || last >= elements)
    return emitError() << "(C2) " << parameter << " has the elements " << start << " to " << last
                       << " of " << elements << " in " << tensor;
  return success();
}

LogicalResult WeightMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr,
                                    ArrayAttr parameters, DictionaryAttr copies, ArrayAttr unused,
                                    ArrayAttr merged) {
  bool areStrings = llvm::all_of(unused, llvm::IsaPred<StringAttr>) &&
                    (!merged || llvm::all_of(merged, llvm::IsaPred<StringAttr>)) &&
                    llvm::all_of(copies, [](NamedAttribute copy) {
                      return mlir::isa<StringAttr>(copy.getValue());
                    });
  if (!llvm::all_of(parameters, llvm::IsaPred<StoredParameterAttr>) || !areStrings)
    return emitError()
           << "(C1) expected stored parameters, and copies, unused and merged as strings";
  return success();
}
