// ModelProto in the wire format of protocol buffers (protobuf.dev/programming-guides/encoding).
// The numbers of fields are those of onnx.proto.

#include "dialects/titan/Onnx/Model.h"

using namespace titan::onnx;

namespace {

/// The bytes of one message. A field is its number and the form of its content, then the content.
class Message {
public:
  void addInteger(uint32_t field, int64_t value) {
    addVarint(field << 3 | 0);
    addVarint(static_cast<uint64_t>(value));
  }
  void addBytes(uint32_t field, llvm::StringRef content) {
    addVarint(field << 3 | 2);
    addVarint(content.size());
    bytes += content;
  }
  void addMessage(uint32_t field, const Message &message) { addBytes(field, message.bytes); }
  std::string take() { return std::move(bytes); }

private:
  /// Seven bits at a time, the lowest first; the high bit says that more follow.
  void addVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }

  std::string bytes;
};

/// StringStringEntryProto.
Message makeEntry(llvm::StringRef key, llvm::StringRef value) {
  Message entry;
  entry.addBytes(1, key);
  entry.addBytes(2, value);
  return entry;
}

/// AttributeProto.
Message makeAttribute(const NodeAttribute &attribute) {
  enum Kind : uint8_t { Integer = 2, Integers = 7 };
  Message message;
  message.addBytes(1, attribute.name);
  if (const auto *integer = std::get_if<int64_t>(&attribute.value)) {
    message.addInteger(3, *integer);
    message.addInteger(20, Integer);
    return message;
  }
  for (int64_t integer : std::get<std::vector<int64_t>>(attribute.value))
    message.addInteger(8, integer);
  message.addInteger(20, Integers);
  return message;
}

/// NodeProto.
Message makeNode(const Node &node) {
  Message message;
  for (const std::string &input : node.inputs)
    message.addBytes(1, input);
  for (const std::string &output : node.outputs)
    message.addBytes(2, output);
  message.addBytes(3, node.outputs.front());
  message.addBytes(4, node.op);
  for (const NodeAttribute &attribute : node.attributes)
    message.addMessage(5, makeAttribute(attribute));
  return message;
}

/// TensorProto.
Message makeTensor(const Initializer &tensor) {
  constexpr int64_t external = 1;
  Message message;
  for (int64_t size : tensor.dims)
    message.addInteger(1, size);
  message.addInteger(2, static_cast<int32_t>(tensor.type));
  message.addBytes(8, tensor.name);
  if (!tensor.external) {
    message.addBytes(9, tensor.bytes);
    return message;
  }
  message.addMessage(13, makeEntry("location", tensor.external->location));
  message.addMessage(13, makeEntry("offset", std::to_string(tensor.external->offset)));
  message.addMessage(13, makeEntry("length", std::to_string(tensor.external->length)));
  message.addInteger(14, external);
  return message;
}

/// TensorShapeProto.
Message makeShape(const std::vector<Dim> &dims) {
  Message shape;
  for (const Dim &dim : dims) {
    Message message;
    if (dim.symbol.empty())
      message.addInteger(1, dim.size);
    else
      message.addBytes(2, dim.symbol);
    shape.addMessage(1, message);
  }
  return shape;
}

/// ValueInfoProto.
Message makeValueInfo(const ValueInfo &value) {
  Message tensor, type, message;
  tensor.addInteger(1, static_cast<int32_t>(value.type));
  tensor.addMessage(2, makeShape(value.dims));
  type.addMessage(1, tensor);
  message.addBytes(1, value.name);
  message.addMessage(2, type);
  return message;
}

/// GraphProto.
Message makeGraph(const Graph &graph) {
  Message message;
  for (const Node &node : graph.nodes)
    message.addMessage(1, makeNode(node));
  message.addBytes(2, graph.name);
  for (const Initializer &tensor : graph.initializers)
    message.addMessage(5, makeTensor(tensor));
  for (const ValueInfo &input : graph.inputs)
    message.addMessage(11, makeValueInfo(input));
  for (const ValueInfo &output : graph.outputs)
    message.addMessage(12, makeValueInfo(output));
  return message;
}

} // namespace

std::string titan::onnx::serialize(const Model &model) {
  constexpr int64_t irVersion = 11; // of the release that has operator set 23
  Message message, operators;
  message.addInteger(1, irVersion);
  message.addBytes(2, model.producer);
  message.addBytes(3, model.producerVersion);
  message.addMessage(7, makeGraph(model.graph));
  operators.addBytes(1, ""); // the standard operators
  operators.addInteger(2, model.opset);
  message.addMessage(8, operators);
  for (const auto &[key, value] : model.metadata)
    message.addMessage(14, makeEntry(key, value));
  return message.take();
}
