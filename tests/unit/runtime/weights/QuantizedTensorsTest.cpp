// Weights in few bits: elements that are read, types, and parts that do not fit together.
// tests/huggingface/quantized.py compares whole models.
#include "weights/QuantizedTensors.h"

#include "base/Error.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class QuantizedTensorsTest : public testing::Test {
protected:
  template <typename T>
  void add(const std::string &name, const std::string &dtype, std::vector<int64_t> shape,
           std::vector<T> values) {
    std::vector<std::byte> &bytes = memory[name];
    bytes.resize(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    stored[name] = {dtype, std::move(shape), bytes};
  }

  void replace() {
    tensors.clear();
    for (const auto &[name, tensor] : stored)
      tensors[name] = &tensor;
    lazy = replaceQuantized(tensors);
  }

  std::string complaint() {
    try {
      replace();
    } catch (const UserError &error) {
      return error.what();
    }
    return "accepted";
  }

  /// Elements of a BF16 tensor.
  std::vector<float> read(const std::string &name, int64_t first, int64_t count) {
    lazy.at(name)->require(first, count);
    std::vector<float> values;
    for (int64_t i = first; i < first + count; ++i) {
      uint16_t word;
      std::memcpy(&word, tensors.at(name)->bytes.data() + 2 * i, 2);
      const uint32_t bits = uint32_t{word} << 16;
      values.emplace_back();
      std::memcpy(&values.back(), &bits, 4);
    }
    return values;
  }

  std::map<std::string, std::vector<std::byte>> memory;
  std::map<std::string, StoredTensor> stored;
  std::map<std::string, const StoredTensor *> tensors;
  std::map<std::string, std::unique_ptr<LazyTensor>> lazy;
};

// 0x38 is 1, 0x01 the least number 2^-9, 0x7e 448, 0xb8 -1.
TEST_F(QuantizedTensorsTest, ReadsFloat8WithRows) {
  add<uint8_t>("w", "F8_E4M3", {2, 2}, {0x38, 0x01, 0x7e, 0xb8});
  add<float>("w_scale", "F32", {2, 1}, {2, 0.5F});
  replace();
  EXPECT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors.at("w")->dtype, "BF16");
  EXPECT_THAT(read("w", 0, 4), ElementsAre(2, 2.0F / 512, 224, -0.5F));
}

// 3 x 130 elements have 1 x 2 blocks of 128.
TEST_F(QuantizedTensorsTest, ReadsFloat8WithBlocks) {
  add<uint8_t>("w", "F8_E4M3", {3, 130}, std::vector<uint8_t>(390, 0x38));
  add<float>("w_scale_inv", "F32", {1, 2}, {3, 5});
  replace();
  EXPECT_THAT(read("w", 126, 5), ElementsAre(3, 3, 5, 5, 3));
  lazy.at("w")->release();
  EXPECT_THAT(read("w", 389, 1), ElementsAre(5));
}

// Nibbles of E2M1: 1 is 0.5, 10 is -1, 7 is 6. Stored are rows of outputs; read are columns.
TEST_F(QuantizedTensorsTest, ReadsMicroscaledExperts) {
  std::vector<uint8_t> blocks(32, 0);
  blocks[0] = 0xa1;
  blocks[16] = 0x07;
  add<uint8_t>("e_blocks", "U8", {1, 2, 1, 16}, blocks);
  add<uint8_t>("e_scales", "U8", {1, 2, 1}, {128, 126});
  replace();
  EXPECT_THAT(tensors.at("e")->shape, ElementsAre(1, 32, 2));
  EXPECT_THAT(read("e", 0, 4), ElementsAre(1, 3, -2, 0));
}

TEST_F(QuantizedTensorsTest, RefusesTensorsThatDoNotFit) {
  add<uint8_t>("w", "F8_E4M3", {2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(complaint(), HasSubstr("there are no scales w_scale_inv"));
  add<float>("w_scale_inv", "F32", {3, 1}, {1, 1, 1});
  EXPECT_THAT(complaint(), HasSubstr("'w' seems to be quantized by fp8, but the shapes"));
  stored.clear();
  add<uint8_t>("e_blocks", "U8", {1, 2, 1, 16}, std::vector<uint8_t>(32));
  add<uint8_t>("e_scales", "U8", {1, 2, 2}, {1, 1, 1, 1});
  EXPECT_THAT(complaint(), HasSubstr("mxfp4"));
  stored.clear();
  add<int32_t>("p.qweight", "I32", {8, 1}, std::vector<int32_t>(8));
  add<int32_t>("p.qzeros", "I32", {1, 1}, {0});
  add<float>("p.scales", "F32", {1, 4}, {1, 1, 1, 1});
  EXPECT_THAT(complaint(), HasSubstr("awq"));
  stored.clear();
  add<uint8_t>("b", "U8", {4, 1}, {0, 0, 0, 0});
  add<char>("b.quant_state.bitsandbytes__nf4", "U8", {2}, {'{', '{'});
  EXPECT_THAT(complaint(), HasSubstr("bitsandbytes"));
  const std::string text = R"({"shape": [2, 4], "blocksize": "64"})";
  add<char>("b.quant_state.bitsandbytes__nf4", "U8", {std::ssize(text)},
            std::vector<char>(text.begin(), text.end()));
  add<float>("b.quant_map", "F32", {16}, std::vector<float>(16));
  add<float>("b.absmax", "F32", {1}, {1});
  EXPECT_THAT(complaint(), HasSubstr("bitsandbytes"));
}

} // namespace
