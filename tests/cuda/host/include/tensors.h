// The subset of LibTorch's tensors and flash attention that Titan uses, strict where LibTorch's
// kernels demand more than LibTorch checks.
#pragma once

#include "cuda_runtime_api.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace c10 {

using DeviceIndex = int8_t;
enum class ScalarType { Float, Double, BFloat16, Long, Bool };
struct Device {
  DeviceIndex index;
};

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
  const char *what_without_backtrace() const { return what(); }
};
struct InferenceMode {
  InferenceMode() {}
};

namespace cuda {

struct CUDAStream {
  cudaStream_t handle;
  DeviceIndex index;
  Device device() const { return {index}; }
  DeviceIndex device_index() const { return index; }
  operator cudaStream_t() const { return handle; }
};
inline CUDAStream getStreamFromExternal(cudaStream_t handle, DeviceIndex index) {
  return {handle, index};
}
/// While a guard exists, LibTorch uses its stream as the current stream.
class CUDAStreamGuard {
public:
  explicit CUDAStreamGuard(CUDAStream);
  ~CUDAStreamGuard();
  CUDAStream current_stream() const { return now; }

private:
  CUDAStream now;
  cudaStream_t before;
};

} // namespace cuda
} // namespace c10

namespace at {

using c10::ScalarType;
constexpr ScalarType kFloat = ScalarType::Float, kDouble = ScalarType::Double,
                     kBFloat16 = ScalarType::BFloat16, kLong = ScalarType::Long,
                     kBool = ScalarType::Bool;
enum DeviceType { kCUDA };
class Context {
public:
  void lazyInitDevice(DeviceType) {}
  void setDeterministicAlgorithms(bool value, bool warnOnly) { isOrdered = value && !warnOnly; }
  void setDeterministicFillUninitializedMemory(bool) {}
  bool deterministicAlgorithms() const { return isOrdered; }

private:
  bool isOrdered = false;
};
Context &globalContext();

/// Elements in device memory, without ownership. Sizes and strides are in elements.
struct View {
  void *data = nullptr;
  int64_t count = 0;
  ScalarType type = kFloat;
  std::vector<int64_t> sizes, strides;

  bool isContiguous() const;
};

class Tensor : public View {
public:
  Tensor() = default;
  explicit Tensor(View view, std::shared_ptr<void> owner = nullptr)
      : View(std::move(view)), owner(std::move(owner)) {}

  Tensor squeeze(int64_t dim) const; // of size 1
  Tensor transpose(int64_t one, int64_t other) const;
  Tensor contiguous() const;
  const Tensor &copy_(const Tensor &from) const; // between equal sizes and types
  const Tensor &zero_() const;

private:
  std::shared_ptr<void> owner; // none for memory of others
};

/// Uninitialized memory of the current stream. When the last tensor on it dies, later work of the
/// stream may get the memory.
Tensor makeTensor(ScalarType type, std::vector<int64_t> sizes);

struct TensorOptions {
  explicit TensorOptions(ScalarType type) : type(type) {}
  TensorOptions device(c10::Device) const { return *this; }
  ScalarType type;
};
class TensorMaker {
public:
  TensorMaker(void *data, std::vector<int64_t> sizes);
  TensorMaker &strides(const std::array<int64_t, 4> &strides);
  TensorMaker &options(TensorOptions options) {
    view.type = options.type;
    return *this;
  }
  TensorMaker &target_device(c10::Device) { return *this; }
  Tensor make_tensor() const { return Tensor(view); }

private:
  View view;
};
inline TensorMaker for_blob(void *data, std::initializer_list<int64_t> sizes) {
  return {data, sizes};
}
inline TensorMaker for_blob(void *data, const std::array<int64_t, 4> &sizes) {
  return {data, {sizes.begin(), sizes.end()}};
}

/// Result, log-sum-exp [batch, heads, queries], and three tensors that only dropout needs.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
_flash_attention_forward(const Tensor &q, const Tensor &k, const Tensor &v,
                         const std::optional<Tensor> &startsOfQueries,
                         const std::optional<Tensor> &startsOfKeys, int64_t queries, int64_t keys,
                         double dropout, bool isCausal, bool isDebug, std::optional<double> scale,
                         std::optional<int64_t> left, std::optional<int64_t> right);
/// Gradients of q, k and v.
std::tuple<Tensor, Tensor, Tensor> _flash_attention_backward(
    const Tensor &cotangent, const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &out,
    const Tensor &lse, const Tensor &startsOfQueries, const Tensor &startsOfKeys, int64_t queries,
    int64_t keys, double dropout, bool isCausal, const Tensor &state, const Tensor &unused,
    std::optional<double> scale, std::optional<int64_t> left, std::optional<int64_t> right);

} // namespace at
