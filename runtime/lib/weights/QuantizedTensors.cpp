#include "QuantizedTensors.h"
#include "base/Error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

using Tensors = std::map<std::string, const StoredTensor *>;
using Json = nlohmann::json;

template <typename T> T load(const StoredTensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// An 8-bit float with `exponentBits`, one sign bit, and the given bias. E4M3 has no infinity; its
/// NaN is the pattern of ones. E5M2 is like IEEE 754 (Micikevicius et al. 2022, table 1).
float decodeFloat8(uint8_t bits, int exponentBits) {
  const int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (bits & 0x7f) >> mantissaBits, mantissa = bits & ((1 << mantissaBits) - 1);
  const float sign = bits & 0x80 ? -1.0F : 1.0F;
  const bool isE5 = exponentBits == 5, isTop = exponent == (1 << exponentBits) - 1;
  if (isE5 && isTop)
    return mantissa ? NAN : sign * INFINITY;
  if (!isE5 && (bits & 0x7f) == 0x7f)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits);
  return sign * std::ldexp(static_cast<float>(mantissa + (1 << mantissaBits)),
                           exponent - bias - mantissaBits);
}

std::array<float, 256> makeFloat8Table(int exponentBits) {
  std::array<float, 256> table;
  for (int bits = 0; bits < 256; ++bits)
    table[static_cast<size_t>(bits)] = decodeFloat8(static_cast<uint8_t>(bits), exponentBits);
  return table;
}

/// Element `index` of a scale: F32, F16, BF16, or a power of two (F8_E8M0).
float loadScale(const StoredTensor &tensor, int64_t index) {
  if (tensor.dtype == "F8_E8M0" || tensor.dtype == "U8")
    return std::ldexp(1.0F, load<uint8_t>(tensor, index) - 127);
  float value = 0;
  if (tensor.dtype == "F32") {
    value = load<float>(tensor, index);
  } else if (tensor.dtype == "BF16") {
    const uint32_t bits = uint32_t{load<uint16_t>(tensor, index)} << 16;
    std::memcpy(&value, &bits, sizeof value);
  } else {
    _Float16 half;
    const auto bits = load<uint16_t>(tensor, index);
    std::memcpy(&half, &bits, sizeof half);
    value = static_cast<float>(half);
  }
  return value;
}

bool isScaleType(const StoredTensor &tensor) {
  for (const char *type : {"F32", "F16", "BF16"})
    if (tensor.dtype == type)
      return true;
  return false;
}

class QuantizedReader {
public:
  explicit QuantizedReader(Tensors &tensors) : tensors(tensors) {}

  std::map<std::string, std::unique_ptr<LazyTensor>> run() {
    std::vector<std::string> names;
    for (const auto &[name, tensor] : tensors)
      names.push_back(name);
    for (const std::string &name : names)
      replace(name);
    for (const std::string &component : components)
      tensors.erase(component);
    for (const auto &[name, tensor] : made)
      tensors[name] = &tensor->tensor();
    return std::move(made);
  }

private:
  using Compute = LazyTensor::Compute;

  void replace(const std::string &name) {
    const StoredTensor &tensor = *tensors.at(name);
    if (tensor.dtype.starts_with("F8_E4M3") || tensor.dtype.starts_with("F8_E5M2"))
      readFloat8(name, tensor);
    else if (const std::string stem = cutEnd(name, "_blocks"); !stem.empty())
      readMicroscaled(stem, tensor);
    else if (const std::string type = findQuantState(name); !type.empty())
      readFourBits(name, tensor, type);
    else if (const std::string stem = cutEnd(name, ".weight");
             !stem.empty() && tensor.dtype == "I8" && find(stem + ".SCB"))
      readEightBits(stem, tensor);
    else if (const std::string stem = cutEnd(name, ".qweight");
             !stem.empty() && tensor.dtype == "I32")
      readPacked(stem, tensor);
  }

  const StoredTensor *find(const std::string &name) const {
    auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second;
  }

  /// The name without its end; empty if it ends otherwise.
  static std::string cutEnd(const std::string &name, std::string_view end) {
    return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : "";
  }

  void add(const std::string &name, const char *method, const char *dtype,
           std::vector<int64_t> shape, Compute compute, const std::vector<std::string> &of) {
    components.insert(components.end(), of.begin(), of.end());
    made[name] = std::make_unique<LazyTensor>(method, dtype, std::move(shape), std::move(compute));
  }

  [[noreturn]] static void refuse(const std::string &name, const char *method,
                                  const std::string &reason) {
    throw UserError(
        fmt::format("the tensor '{}' seems to be quantized by {}, but {}", name, method, reason));
  }

  static void expect(bool holds, const std::string &name, const char *method) {
    if (!holds)
      refuse(name, method, "the shapes or types of its components do not fit together");
  }

  /// The size of the blocks along a dimension of `size` with `count` scales; 0 if none fits.
  static int64_t findBlock(int64_t size, int64_t count) {
    if (count <= 0 || count > std::max<int64_t>(size, 1))
      return 0;
    constexpr int64_t usual = 128; // of published weights
    if ((size + usual - 1) / usual == count)
      return usual;
    const int64_t block = (size + count - 1) / count;
    return block > 0 && (size + block - 1) / block == count ? block : 0;
  }

  void readFloat8(const std::string &name, const StoredTensor &tensor) {
    const char *method = "fp8";
    std::string scaleName = name + "_scale_inv";
    const StoredTensor *scale = find(scaleName);
    if (!scale)
      scale = find(scaleName = name + "_scale");
    if (!scale)
      refuse(name, method, "there are no scales " + name + "_scale_inv or " + name + "_scale");
    std::vector<int64_t> counts = scale->shape;
    if (counts.size() > tensor.shape.size() ||
        (counts.size() == 1 && counts[0] == 1)) // one scale for all
      counts.clear();
    if (counts.size() == 1 && tensor.shape.size() == 2) // one for each row
      counts.push_back(1);
    counts.insert(counts.begin(), tensor.shape.size() - counts.size(), 1);
    std::vector<int64_t> blocks;
    for (size_t d = 0; d < counts.size(); ++d) {
      blocks.push_back(findBlock(tensor.shape[d], counts[d]));
      expect(blocks.back() > 0, name, method);
    }
    const bool isPower = scale->dtype == "F8_E8M0";
    expect((isScaleType(*scale) || isPower) && !scale->bytes.empty(), name, method);
    static const std::array<float, 256> tables[2] = {makeFloat8Table(4), makeFloat8Table(5)};
    const auto &table = tables[tensor.dtype.starts_with("F8_E5M2")];
    auto compute = [&tensor, scale, blocks, counts, &table](int64_t first, int64_t count,
                                                            float *out) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t rest = first + i, at = 0, stride = 1;
        for (size_t d = counts.size(); d-- > 0; stride *= counts[d]) {
          at += rest % tensor.shape[d] / blocks[d] * stride;
          rest /= tensor.shape[d];
        }
        out[i] = table[load<uint8_t>(tensor, first + i)] * loadScale(*scale, at);
      }
    };
    add(name, method, "BF16", tensor.shape, compute, {name, scaleName});
    if (std::string input = cutEnd(name, ".weight") + ".input_scale"; find(input))
      components.push_back(input); // of activations
  }

  /// Blocks of 32 numbers of E2M1 with a common power of two. transformers stores the transposed
  /// matrices of experts.
  void readMicroscaled(const std::string &stem, const StoredTensor &blocks) {
    const char *method = "mxfp4";
    const StoredTensor *scales = find(stem + "_scales");
    if (!scales || blocks.dtype != "U8" || scales->dtype != "U8")
      return;
    expect(blocks.shape.size() == 4 && blocks.shape[3] == 16 &&
               std::equal(scales->shape.begin(), scales->shape.end(), blocks.shape.begin(),
                          blocks.shape.end() - 1),
           stem, method);
    const int64_t rows = blocks.shape[1], columns = blocks.shape[2] * 32;
    auto compute = [&blocks, scales, rows, columns](int64_t first, int64_t count, float *out) {
      static constexpr std::array<float, 8> values = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = (first + i) % rows, column = (first + i) / rows % columns;
        const int64_t expert = (first + i) / rows / columns;
        const int64_t element = (expert * rows + row) * columns + column;
        const uint8_t pair = load<uint8_t>(blocks, element / 2);
        const int nibble = element % 2 ? pair >> 4 : pair & 15;
        const float value = values[static_cast<size_t>(nibble & 7)];
        out[i] =
            std::ldexp(nibble & 8 ? -value : value, load<uint8_t>(*scales, element / 32) - 127);
      }
    };
    add(stem, method, "BF16", {blocks.shape[0], columns, rows}, compute,
        {stem + "_blocks", stem + "_scales"});
  }

  /// The tensor with the description of a 4-bit weight of bitsandbytes; empty if there is none.
  std::string findQuantState(const std::string &name) const {
    for (const char *type : {"nf4", "fp4"})
      if (std::string state = name + ".quant_state.bitsandbytes__" + type; find(state))
        return state;
    return "";
  }

  /// The scales of blocks, which may be quantized themselves.
  struct Absmax {
    const StoredTensor *values, *nested = nullptr, *nestedMap = nullptr;
    int64_t nestedBlock = 256;
    float offset = 0;

    float get(int64_t block) const {
      if (!nested)
        return load<float>(*values, block);
      return load<float>(*nestedMap, load<uint8_t>(*values, block)) *
                 load<float>(*nested, block / nestedBlock) +
             offset;
    }
  };

  void readFourBits(const std::string &name, const StoredTensor &tensor, const std::string &state) {
    const char *method = "bitsandbytes";
    const StoredTensor &text = *find(state);
    const Json description =
        Json::parse(reinterpret_cast<const char *>(text.bytes.data()),
                    reinterpret_cast<const char *>(text.bytes.data()) + text.bytes.size(), nullptr,
                    /*allow_exceptions=*/false);
    const StoredTensor *map = find(name + ".quant_map");
    Absmax absmax{find(name + ".absmax")};
    std::vector<std::string> of = {name, state, name + ".quant_map", name + ".absmax"};
    expect(description.is_object() && description.contains("shape") &&
               description["shape"].is_array() && map && absmax.values,
           name, method);
    std::vector<int64_t> shape;
    int64_t elements = 1;
    for (const Json &size : description["shape"]) {
      expect(size.is_number_unsigned() && size.get<uint64_t>() < (uint64_t{1} << 40), name, method);
      shape.push_back(size.get<int64_t>());
      expect(!__builtin_mul_overflow(elements, shape.back(), &elements), name, method);
    }
    for (const char *key : {"blocksize", "nested_blocksize", "nested_offset"})
      expect(!description.contains(key) || description[key].is_number(), name, method);
    expect(!description.contains("dtype") || description["dtype"].is_string(), name, method);
    const int64_t block = description.value("blocksize", int64_t{64});
    if (const StoredTensor *nested = find(name + ".nested_absmax")) {
      absmax.nested = nested;
      absmax.nestedMap = find(name + ".nested_quant_map");
      absmax.nestedBlock = description.value("nested_blocksize", int64_t{256});
      absmax.offset = description.value("nested_offset", 0.0F);
      of.insert(of.end(), {name + ".nested_absmax", name + ".nested_quant_map"});
    }
    const int64_t blocks = block > 0 ? (elements + block - 1) / block : 0;
    const bool fits =
        block > 0 && std::ssize(tensor.bytes) * 2 >= elements && map->dtype == "F32" &&
        std::ssize(map->bytes) == 64 && absmax.nestedBlock > 0 &&
        (absmax.nested
             ? absmax.nestedMap && absmax.values->dtype == "U8" && absmax.nested->dtype == "F32" &&
                   absmax.nestedMap->dtype == "F32" &&
                   std::ssize(absmax.nestedMap->bytes) == 1024 &&
                   std::ssize(absmax.values->bytes) == blocks &&
                   std::ssize(absmax.nested->bytes) / 4 * absmax.nestedBlock >= blocks
             : absmax.values->dtype == "F32" && std::ssize(absmax.values->bytes) / 4 == blocks);
    expect(fits, name, method);
    auto compute = [&tensor, map, absmax, block](int64_t first, int64_t count, float *out) {
      for (int64_t i = first; i < first + count; ++i) {
        const uint8_t pair = load<uint8_t>(tensor, i / 2);
        out[i - first] = load<float>(*map, i % 2 ? pair & 15 : pair >> 4) * absmax.get(i / block);
      }
    };
    const bool isHalf = description.value("dtype", std::string()) == "float16";
    const bool isSingle = description.value("dtype", std::string()) == "float32";
    add(name, method, isSingle ? "F32" : isHalf ? "F16" : "BF16", shape, compute, of);
  }

  void readEightBits(const std::string &stem, const StoredTensor &tensor) {
    const char *method = "bitsandbytes";
    const StoredTensor *scale = find(stem + ".SCB");
    expect(tensor.shape.size() == 2 && scale->dtype == "F32" &&
               std::ssize(scale->bytes) / 4 == tensor.shape[0],
           stem + ".weight", method);
    const int64_t columns = tensor.shape[1];
    auto compute = [&tensor, scale, columns](int64_t first, int64_t count, float *out) {
      for (int64_t i = first; i < first + count; ++i)
        out[i - first] =
            static_cast<float>(load<int8_t>(tensor, i)) * (load<float>(*scale, i / columns) / 127);
    };
    std::vector<std::string> of = {stem + ".weight", stem + ".SCB"};
    if (find(stem + ".weight_format"))
      of.push_back(stem + ".weight_format");
    add(stem + ".weight", method, "F16", tensor.shape, compute, of);
  }

  /// Integers of a few bits, packed in words of 32: along the outputs (awq), or along the inputs
  /// with a group for each (gptq).
  void readPacked(const std::string &stem, const StoredTensor &words) {
    const StoredTensor *zeros = find(stem + ".qzeros"), *scales = find(stem + ".scales");
    if (!zeros || !scales)
      return;
    const char *method = find(stem + ".g_idx") ? "gptq" : "awq";
    expect(words.shape.size() == 2 && zeros->shape.size() == 2 && scales->shape.size() == 2 &&
               zeros->dtype == "I32" && isScaleType(*scales) &&
               zeros->shape[0] == scales->shape[0] && scales->shape[0] > 0,
           stem + ".weight", method);
    if (const StoredTensor *groups = find(stem + ".g_idx"))
      readInputsPacked(stem, words, *zeros, *scales, *groups);
    else
      readOutputsPacked(stem, words, *zeros, *scales);
  }

  void readOutputsPacked(const std::string &stem, const StoredTensor &words,
                         const StoredTensor &zeros, const StoredTensor &scales) {
    const int64_t inputs = words.shape[0], outputs = words.shape[1] * 8;
    const int64_t group = inputs / scales.shape[0];
    expect(scales.shape[1] == outputs && zeros.shape[1] == words.shape[1] && group > 0 &&
               group * scales.shape[0] == inputs,
           stem + ".weight", "awq");
    auto compute = [&words, &zeros, &scales, inputs, outputs, group](int64_t first, int64_t count,
                                                                     float *out) {
      static constexpr std::array<int, 8> slots = {0, 4, 1, 5, 2, 6, 3, 7}; // of outputs in a word
      for (int64_t i = first; i < first + count; ++i) {
        const int64_t output = i / inputs, input = i % inputs;
        const int shift = 4 * slots[static_cast<size_t>(output % 8)];
        auto nibble = [&](const StoredTensor &packed, int64_t row) {
          return static_cast<int>(
              load<uint32_t>(packed, row * (outputs / 8) + output / 8) >> shift & 15);
        };
        out[i - first] = static_cast<float>(nibble(words, input) - nibble(zeros, input / group)) *
                         loadScale(scales, input / group * outputs + output);
      }
    };
    add(stem + ".weight", "awq", "F16", {outputs, inputs}, compute,
        {stem + ".qweight", stem + ".qzeros", stem + ".scales"});
  }

  void readInputsPacked(const std::string &stem, const StoredTensor &words,
                        const StoredTensor &zeros, const StoredTensor &scales,
                        const StoredTensor &groups) {
    const int64_t inputs = std::ssize(groups.bytes) / 4, outputs = words.shape[1];
    const int64_t bits = inputs > 0 ? words.shape[0] * 32 / inputs : 0;
    expect((bits == 2 || bits == 4 || bits == 8) && words.shape[0] * 32 == bits * inputs &&
               groups.dtype == "I32" && scales.shape[1] == outputs &&
               zeros.shape[1] * 32 == outputs * bits,
           stem + ".weight", "gptq");
    for (int64_t i = 0; i < inputs; ++i)
      expect(load<uint32_t>(groups, i) < static_cast<uint64_t>(scales.shape[0]), stem + ".weight",
             "gptq");
    auto compute = [&words, &zeros, &scales, &groups, inputs, outputs,
                    bits](int64_t first, int64_t count, float *out) {
      const int64_t each = 32 / bits; // numbers in a word
      const uint32_t mask = (uint32_t{1} << bits) - 1;
      for (int64_t i = first; i < first + count; ++i) {
        const int64_t output = i / inputs, input = i % inputs, group = load<int32_t>(groups, input);
        const uint32_t number =
            load<uint32_t>(words, input / each * outputs + output) >> (bits * (input % each)) &
            mask;
        const uint32_t zero = load<uint32_t>(zeros, group * (outputs / each) + output / each) >>
                                  (bits * (output % each)) &
                              mask;
        // The first version of the format stores zeros less one.
        out[i - first] = static_cast<float>(static_cast<int>(number) - static_cast<int>(zero + 1)) *
                         loadScale(scales, group * outputs + output);
      }
    };
    add(stem + ".weight", "gptq", "F16", {outputs, inputs}, compute,
        {stem + ".qweight", stem + ".qzeros", stem + ".scales", stem + ".g_idx"});
  }

  Tensors &tensors;
  std::vector<std::string> components;
  std::map<std::string, std::unique_ptr<LazyTensor>> made;
};

} // namespace

std::map<std::string, std::unique_ptr<LazyTensor>>
replaceQuantized(std::map<std::string, const StoredTensor *> &tensors) {
  return QuantizedReader(tensors).run();
}

} // namespace titan::rt
