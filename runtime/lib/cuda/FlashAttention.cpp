// Requirements of LibTorch's flash attention, from PyTorch 2.11: mha_fwd and mha_bwd in
// aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, which check most of them, and
// the kernels' loads of 16 bytes, for which nothing is checked.
#include "FlashAttention.h"

#include "Check.h"

#include "base/kernels/FlashWorkspace.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

namespace titan::rt::cuda {

namespace {

constexpr int64_t kMostBlocks = 65535; // of a grid along its second and third dimension
constexpr int64_t kAlignment = 16;     // bytes per load
constexpr int64_t kElementsPerLoad = kAlignment / sizeof(bf16);

/// A tensor [outer, positions, heads, elements].
struct Layout {
  std::array<int64_t, 4> sizes, strides;
};

/// The layout with all heads in one dimension, ordered by their key's head. Empty if the heads have
/// no common stride.
std::optional<Layout> getLayout(const AttentionShape &s, const AttentionStrides &at,
                                int64_t positions, int64_t group, int64_t elements) {
  if (group > 1 && s.kvHeads > 1 && at.kvHead != group * at.group)
    return std::nullopt;
  Layout layout{{s.outer, positions, s.kvHeads * group, elements},
                {at.outer, at.position, group > 1 ? at.group : at.kvHead, at.element}};
  // The stride of a single element has no meaning and may be 0.
  for (int i = 3; i >= 0; --i)
    if (layout.sizes[i] == 1)
      layout.strides[i] = i == 3 ? 1 : layout.sizes[i + 1] * layout.strides[i + 1];
    else if (layout.strides[i] <= 0)
      return std::nullopt;
  return layout;
}

/// The layouts of all tensors of a call; `keys` counts those that are visible.
struct Layouts {
  Layout q, k, v, out, lse;

  static std::optional<Layouts> make(const AttentionShape &s, int64_t keys) {
    const auto q = getLayout(s, s.q, s.queries, s.group, s.head),
               k = getLayout(s, s.k, keys, 1, s.head), v = getLayout(s, s.v, keys, 1, s.valueHead),
               out = getLayout(s, s.out, s.queries, s.group, s.valueHead),
               lse = getLayout(s, s.lse, s.queries, s.group, 1);
    if (!q || !k || !v || !out || !lse)
      return std::nullopt;
    return Layouts{*q, *k, *v, *out, *lse};
  }
};

/// Whether every row begins at a multiple of a kernel's load, if the tensor does.
bool isLoadable(const Layout &layout) {
  return layout.strides[3] == 1 &&
         std::all_of(layout.strides.begin(), layout.strides.end() - 1,
                     [](int64_t stride) { return stride % kElementsPerLoad == 0; });
}

bool isAligned(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % kAlignment == 0;
}

/// LibTorch's device, stream and settings during a call.
class Call {
public:
  explicit Call(cudaStream_t stream) : current(getStream(stream)) {
    // Process-wide, and nothing else here asks for them. The backward pass otherwise adds to dq
    // atomically, in any order; replicas must stay bitwise equal. LibTorch would then also fill
    // every new tensor with NaN.
    static const bool isSet = [] {
      at::Context &context = at::globalContext();
      context.lazyInitDevice(at::kCUDA);
      context.setDeterministicAlgorithms(true, /*warn_only=*/false);
      context.setDeterministicFillUninitializedMemory(false);
      return true;
    }();
    (void)isSet;
  }

  /// A view of memory in the arena, without ownership.
  at::Tensor view(const void *data, const Layout &layout, at::ScalarType type) const {
    const c10::Device device = current.current_stream().device();
    return at::for_blob(const_cast<void *>(data), layout.sizes)
        .strides(layout.strides)
        .options(at::TensorOptions(type).device(device))
        .target_device(device)
        .make_tensor();
  }
  at::Tensor view(const bf16 *data, const Layout &layout) const {
    return view(data, layout, at::kBFloat16);
  }
  /// In LibTorch's order of dimensions: [outer, heads, positions].
  at::Tensor viewLse(const float *data, const Layout &layout) const {
    return view(data, layout, at::kFloat).squeeze(3).transpose(1, 2);
  }

private:
  static c10::cuda::CUDAStream getStream(cudaStream_t stream) {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    return c10::cuda::getStreamFromExternal(stream, static_cast<c10::DeviceIndex>(device));
  }

  c10::InferenceMode withoutGradients;
  c10::cuda::CUDAStreamGuard current;
};

/// Calls body(Call) on the stream. Throws Fault with the source line if LibTorch fails.
template <typename Body> void callLibTorch(cudaStream_t stream, const char *location, Body body) {
  try {
    body(Call(stream));
  } catch (const c10::Error &error) {
    throw Fault(std::string("LibTorch's flash attention failed at ") + location + ": " +
                error.what_without_backtrace());
  }
}

/// -1 and no number both mean no bound.
std::optional<int64_t> getBound(int64_t keys) {
  return keys < 0 ? std::nullopt : std::optional(keys);
}

/// Copies the gradient of the visible keys; the others have none.
void storeKeyGradient(const Call &call, const at::Tensor &gradient, bf16 *to, Layout layout,
                      int64_t keys) {
  call.view(to, layout).copy_(gradient);
  const int64_t visible = layout.sizes[1];
  if (visible == keys)
    return;
  layout.sizes[1] = keys - visible;
  call.view(to + visible * layout.strides[1], layout).zero_();
}

} // namespace

std::optional<FlashMask> describeMask(const AttentionShape &s) {
  if (s.documents)
    return std::nullopt;
  if (!s.causal && !s.window)
    return FlashMask{s.keys, -1, -1};
  const DimShard keys = keyPositions(s);
  if (s.start || keys.intervalCount() > 1)
    return std::nullopt;
  const DimShard queries = queryPositions(s, 0, 0);
  const int64_t begin = queries.start - keys.start, end = begin + s.queries;
  if (queries.intervalCount() > 1 || begin < 0 || end > s.keys)
    return std::nullopt;
  // Keys after the last visible one are omitted, since the last key determines the alignment.
  const int64_t ahead = s.causal ? 0 : s.window - 1;
  const int64_t visible = std::min(s.keys, end + ahead), shift = visible - end;
  return FlashMask{visible, s.window ? s.window - 1 + shift : -1, ahead - shift};
}

bool canUseFlashAttention(const AttentionShape &s, std::initializer_list<const void *> operands,
                          int computeCapability) {
  // For one query, LibTorch rearranges grouped heads and may copy them.
  if (computeCapability < 8 || s.softCap > 0 || s.head != s.valueHead ||
      !flash_workspace::isSupportedHead(s.head) || s.outer < 1 || s.outer > kMostBlocks ||
      s.queries < 2 || s.keys < 1 || s.kvHeads * s.group > kMostBlocks)
    return false;
  const std::optional<FlashMask> mask = describeMask(s);
  const std::optional<Layouts> all = mask ? Layouts::make(s, mask->keys) : std::nullopt;
  return all && isLoadable(all->q) && isLoadable(all->k) && isLoadable(all->v) &&
         isLoadable(all->out) && std::all_of(operands.begin(), operands.end(), isAligned);
}

int getComputeCapability() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "asking for the compute capability");
  return major;
}

void flashForward(const AttentionShape &s, const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out,
                  float *lse, cudaStream_t stream, const char *location) {
  const FlashMask mask = *describeMask(s);
  const Layouts layouts = *Layouts::make(s, mask.keys);
  callLibTorch(stream, location, [&](const Call &call) {
    const auto results = at::_flash_attention_forward(
        call.view(q, layouts.q), call.view(k, layouts.k), call.view(v, layouts.v), std::nullopt,
        std::nullopt, s.queries, mask.keys, /*dropout_p=*/0, /*is_causal=*/s.causal,
        /*return_debug_mask=*/false, s.scale, getBound(mask.left), getBound(mask.right));
    call.view(out, layouts.out).copy_(std::get<0>(results));
    if (lse)
      call.viewLse(lse, layouts.lse).copy_(std::get<1>(results));
  });
}

void flashBackward(const AttentionShape &s, const bf16 *dOut, const bf16 *q, const bf16 *k,
                   const bf16 *v, const bf16 *out, const float *lse, bf16 *dq, bf16 *dk, bf16 *dv,
                   cudaStream_t stream, const char *location) {
  const FlashMask mask = *describeMask(s);
  const Layouts layouts = *Layouts::make(s, mask.keys);
  callLibTorch(stream, location, [&](const Call &call) {
    const at::Tensor none; // lengths of several sequences, and the state of dropout
    const auto results = at::_flash_attention_backward(
        call.view(dOut, layouts.out), call.view(q, layouts.q), call.view(k, layouts.k),
        call.view(v, layouts.v), call.view(out, layouts.out),
        call.viewLse(lse, layouts.lse).contiguous(), none, none, s.queries, mask.keys,
        /*dropout_p=*/0, /*is_causal=*/s.causal, none, none, s.scale, getBound(mask.left),
        getBound(mask.right));
    call.view(dq, layouts.q).copy_(std::get<0>(results));
    storeKeyGradient(call, std::get<1>(results), dk, layouts.k, s.keys);
    storeKeyGradient(call, std::get<2>(results), dv, layouts.v, s.keys);
  });
}

} // namespace titan::rt::cuda
