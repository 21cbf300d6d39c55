// An ONNX model as plain data, and its two forms: the file, and text for people and tests.
//
// The names are those of onnx.proto (github.com/onnx/onnx), which defines the file.
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace titan::onnx {

/// The numbers of TensorProto.DataType.
enum class ElementType : int32_t { F32 = 1, I64 = 7, Bool = 9, F16 = 10, F64 = 11, BF16 = 16 };

/// The size of an axis, or the name of a size that is known when the model runs.
struct Dim {
  int64_t size = 0;
  std::string symbol = {}; ///< empty: `size` is known
};

/// An input or output of a graph.
struct ValueInfo {
  std::string name;
  ElementType type;
  std::vector<Dim> dims;
};

struct NodeAttribute {
  std::string name;
  std::variant<int64_t, std::vector<int64_t>> value;
};

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs; ///< an empty name: an optional input that is absent
  std::vector<NodeAttribute> attributes;
};

/// Where another file has the bytes of a tensor.
struct ExternalData {
  std::string location; ///< relative to the folder of the model
  int64_t offset, length;
};

/// A tensor with known elements, row-major and little-endian.
struct Initializer {
  std::string name;
  ElementType type;
  std::vector<int64_t> dims;
  std::string bytes;                    ///< unused with `external`
  std::optional<ExternalData> external; ///< absent: the model has the bytes
};

struct Graph {
  std::string name;
  std::vector<Node> nodes; ///< each after those that compute its inputs
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct Model {
  Graph graph;
  int64_t opset; ///< the version of the operators
  std::string producer, producerVersion;
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// The versions of the operators that the translation is correct for. Between the first and the
/// last, no operator that it uses has changed its meaning.
constexpr int64_t leastOpset = 23, mostOpset = 25;

/// The bytes of the file: a ModelProto.
std::string serialize(const Model &model);

/// In the notation of onnx.parser, without the elements of tensors.
void print(const Graph &graph, llvm::raw_ostream &out);

} // namespace titan::onnx
