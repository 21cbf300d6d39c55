#include "SampleOutput.h"

#include <algorithm>

namespace titan::rt {

namespace {

template <class Number> Number elementAt(DType type, const std::byte *data, int64_t index) {
  switch (type) {
  case DType::F64:
    return static_cast<Number>(reinterpret_cast<const double *>(data)[index]);
  case DType::F32:
    return static_cast<Number>(reinterpret_cast<const float *>(data)[index]);
  case DType::BF16:
    return static_cast<Number>(static_cast<float>(reinterpret_cast<const bf16 *>(data)[index]));
  case DType::I64:
    return static_cast<Number>(reinterpret_cast<const int64_t *>(data)[index]);
  case DType::Bool:
    return static_cast<Number>(data[index] != std::byte{0});
  }
  return {};
}

/// The elements as `Stored`.
template <class Stored, class Number> std::string pack(const std::vector<Number> &numbers) {
  std::vector<Stored> stored(numbers.begin(), numbers.end());
  return {reinterpret_cast<const char *>(stored.data()), stored.size() * sizeof(Stored)};
}

bool isFloat(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::BF16;
}

} // namespace

SampleOutput::SampleOutput(Executor &executor, const Tensor &tensor)
    : executor(&executor), tensor(&tensor) {
  for (const Dim &dim : tensor.info.dims) {
    elements *= dim.size;
    if (dim.name != executor.program().dims.samples)
      sizes.push_back(dim.size);
  }
}

/// Each element is that of one rank; the others add 0.
template <class Number> void SampleOutput::gather(DType carrier, std::vector<Number> &all) {
  all.assign(static_cast<size_t>(elements), Number{});
  HostView host = executor->view(*tensor, HostView::Access::Read);
  if (executor->isWriter(*tensor))
    executor->getLayout(tensor->info).forEachRun([&](const ShardRun &run) {
      for (int64_t i = 0; i < run.count; ++i)
        all[static_cast<size_t>(run.global + i)] =
            elementAt<Number>(type(), host.data(), run.local + i);
    });
  executor->world().worldGroup().allReduce(all.data(), elements, carrier, Reduction::Sum,
                                           {"collecting outputs", ""});
}

std::string SampleOutput::collect() {
  if (isFloat(type()))
    gather(DType::F64, reals);
  else
    gather(DType::I64, integers);
  switch (type()) {
  case DType::F64:
    return pack<double>(reals);
  case DType::F32:
  case DType::BF16:
    return pack<float>(reals);
  case DType::I64:
    return pack<int64_t>(integers);
  case DType::Bool:
    return pack<char>(integers);
  }
  return {};
}

std::vector<double> SampleOutput::numbers() const {
  return isFloat(type()) ? reals : std::vector<double>(integers.begin(), integers.end());
}

} // namespace titan::rt
