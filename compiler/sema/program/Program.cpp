#include "compiler/sema/program/Program.h"

namespace titan::sema {

const char *spelling(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::BF16:
    return "bf16";
  case DType::I64:
    return "int";
  case DType::Bool:
    break;
  }
  return "bool";
}

bool isFloat(DType dtype) {
  return dtype != DType::I64 && dtype != DType::Bool;
}

DType wider(DType a, DType b) {
  for (DType widest : {DType::F64, DType::F32})
    if (a == widest || b == widest)
      return widest;
  return a;
}

std::optional<DType> floatCalled(const std::string &name) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16})
    if (name == spelling(dtype))
      return dtype;
  return std::nullopt;
}

int64_t Model::elements(const Parameter &parameter) const {
  int64_t count = 1;
  for (const std::vector<int64_t> &iterations : parameter.iterations)
    count *= static_cast<int64_t>(iterations.size());
  for (DimId id : parameter.type.dims)
    count *= dims[id].size;
  return count;
}

int64_t Model::parameterCount(bool buffers) const {
  int64_t count = 0;
  for (const Parameter &parameter : parameters)
    if (parameter.isBuffer == buffers)
      count += elements(parameter);
  return count;
}

std::vector<DimId> getComponentDims(const Model &model, const std::string &component) {
  std::vector<DimId> dims;
  for (const Parameter &parameter : model.parameters)
    if (!component.empty() && parameter.name.starts_with(component)) {
      dims.insert(dims.end(), parameter.type.dims.begin(), parameter.type.dims.end());
      dims.insert(dims.end(), parameter.repeats.begin(), parameter.repeats.end());
    }
  return dims;
}

} // namespace titan::sema
