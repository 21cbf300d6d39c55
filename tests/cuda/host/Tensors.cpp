// Tensors of the emulated LibTorch: views, allocation, copies (include/tensors.h).
#include "Capture.h"
#include "Memory.h"
#include "Streams.h"
#include "Torch.h"
#include "TorchUse.h"

#include <algorithm>
#include <cstring>

namespace cuda_host {

TorchUse torchUse;
cudaStream_t currentStream = nullptr;

void refuseWhileCapturing(const char *call) {
  if (cudaError_t error = forbidWhileCapturing(call))
    throw c10::Error(cudaGetErrorString(error));
}

size_t getByteSize(at::ScalarType type) {
  switch (type) {
  case at::kFloat:
    return 4;
  case at::kBFloat16:
    return 2;
  case at::kBool:
    return 1;
  default:
    return 8;
  }
}

namespace {

/// Calls `body` for every index below `sizes`, in row-major order, with the element's offset in
/// each view.
template <typename Body>
void forEach(const std::vector<int64_t> &sizes, const std::vector<const at::View *> &views,
             Body body) {
  std::vector<int64_t> at(sizes.size()), offsets(views.size());
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    std::fill(offsets.begin(), offsets.end(), 0);
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      for (size_t view = 0; view < views.size(); ++view)
        offsets[view] += rest % sizes[d] * views[view]->strides[d];
    body(offsets);
  }
}

std::vector<int64_t> getRowMajor(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

at::View makeView(void *data, at::ScalarType type, std::vector<int64_t> sizes) {
  at::View view{data, 1, type, std::move(sizes), {}};
  for (int64_t size : view.sizes)
    view.count *= size;
  view.strides = getRowMajor(view.sizes);
  return view;
}

} // namespace

} // namespace cuda_host

using namespace cuda_host;

c10::cuda::CUDAStreamGuard::CUDAStreamGuard(CUDAStream stream)
    : now(stream), before(currentStream) {
  currentStream = stream.handle;
}
c10::cuda::CUDAStreamGuard::~CUDAStreamGuard() {
  currentStream = before;
}

namespace at {

Context &globalContext() {
  static Context context;
  return context;
}

bool View::isContiguous() const {
  const std::vector<int64_t> usual = getRowMajor(sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && strides[d] != usual[d])
      return false;
  return true;
}

TensorMaker::TensorMaker(void *data, std::vector<int64_t> sizes)
    : view(makeView(data, kFloat, std::move(sizes))) {}

TensorMaker &TensorMaker::strides(const std::array<int64_t, 4> &strides) {
  view.strides.assign(strides.begin(), strides.end());
  return *this;
}

Tensor makeTensor(ScalarType type, std::vector<int64_t> sizes) {
  refuseWhileCapturing("LibTorch's allocation of a tensor");
  View view = makeView(nullptr, type, std::move(sizes));
  const size_t bytes = view.count * getByteSize(type);
  view.data = allocate(bytes);
  if (!view.data)
    throw c10::Error("CUDA out of memory");
  const int64_t rounded = static_cast<int64_t>(bytes + 511) / 512 * 512;
  torchUse.bytes += rounded;
  torchUse.mostBytes = std::max(torchUse.mostBytes, torchUse.bytes);
  auto give = [rounded, stream = currentStream](void *memory) {
    torchUse.bytes -= rounded;
    queueWork(stream, [memory] { release(memory); });
  };
  return Tensor(view, std::shared_ptr<void>(view.data, give));
}

Tensor Tensor::squeeze(int64_t dim) const {
  if (sizes[dim] != 1)
    fail("a dimension of size %ld is removed", long(sizes[dim]));
  Tensor result = *this;
  result.sizes.erase(result.sizes.begin() + dim);
  result.strides.erase(result.strides.begin() + dim);
  return result;
}

Tensor Tensor::transpose(int64_t one, int64_t other) const {
  Tensor result = *this;
  std::swap(result.sizes[one], result.sizes[other]);
  std::swap(result.strides[one], result.strides[other]);
  return result;
}

Tensor Tensor::contiguous() const {
  if (isContiguous())
    return *this;
  Tensor result = makeTensor(type, sizes);
  result.copy_(*this);
  return result;
}

const Tensor &Tensor::copy_(const Tensor &other) const {
  if (other.sizes != sizes || other.type != type)
    throw c10::Error("a copy between tensors of different sizes or types");
  // Views only: the work must not own memory that LibTorch has given to others.
  queueWork(currentStream, [to = View(*this), from = View(other), bytes = getByteSize(type)] {
    forEach(to.sizes, {&to, &from}, [&](const std::vector<int64_t> &at) {
      auto *target = static_cast<std::byte *>(to.data) + at[0] * bytes;
      auto *source = static_cast<const std::byte *>(from.data) + at[1] * bytes;
      checkRead(source, bytes, "a copy of a tensor");
      checkWrite(target, bytes, "a copy of a tensor");
      std::memcpy(target, source, bytes);
      markWritten(target, bytes);
    });
  });
  return *this;
}

const Tensor &Tensor::zero_() const {
  queueWork(currentStream, [to = View(*this), bytes = getByteSize(type)] {
    forEach(to.sizes, {&to}, [&](const std::vector<int64_t> &at) {
      auto *target = static_cast<std::byte *>(to.data) + at[0] * bytes;
      checkWrite(target, bytes, "zeros of a tensor");
      std::memset(target, 0, bytes);
      markWritten(target, bytes);
    });
  });
  return *this;
}

} // namespace at
