#include "dialects/titan/Onnx/GraphBuilder.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cstring>

using namespace titan::onnx;

template <typename Number> static std::string toBytes(llvm::ArrayRef<Number> numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty())
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// The bits of `number` in f16.
static uint16_t roundToHalf(double number) {
  llvm::APFloat value(number);
  bool losesDigits = false;
  value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &losesDigits);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

static std::string toBytes(ElementType type, double number) {
  switch (type) {
  case ElementType::F32:
    return toBytes<float>(static_cast<float>(number));
  case ElementType::F64:
    return toBytes<double>(number);
  case ElementType::F16:
    return toBytes<uint16_t>(roundToHalf(number));
  case ElementType::I64:
    return toBytes<int64_t>(static_cast<int64_t>(number));
  case ElementType::Bool:
    return std::string(1, number != 0 ? '\1' : '\0');
  case ElementType::BF16:
    break; // stored weights alone have this type
  }
  llvm_unreachable("no constants have this type");
}

/// The text by which equal nodes are found.
static std::string makeKey(llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                           const std::vector<NodeAttribute> &attributes) {
  std::string key = (op + "(" + llvm::join(inputs, ",") + ")").str();
  for (const NodeAttribute &attribute : attributes) {
    key += attribute.name + "=";
    if (const auto *integer = std::get_if<int64_t>(&attribute.value))
      key += std::to_string(*integer);
    else
      for (int64_t integer : std::get<std::vector<int64_t>>(attribute.value))
        key += std::to_string(integer) + ",";
    key += ";";
  }
  return key;
}

std::string GraphBuilder::add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                              std::vector<NodeAttribute> attributes) {
  return add(op, inputs, std::move(attributes), 1).front();
}

std::vector<std::string> GraphBuilder::add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                                           std::vector<NodeAttribute> attributes,
                                           unsigned results) {
  std::vector<std::string> &outputs = known[makeKey(op, inputs, attributes)];
  if (!outputs.empty())
    return outputs;
  const std::string stem = op.lower() + "." + std::to_string(graph.nodes.size());
  for (unsigned i = 0; i < results; ++i)
    outputs.push_back(i ? stem + "." + std::to_string(i) : stem);
  graph.nodes.push_back({op.str(), inputs.vec(), outputs, std::move(attributes)});
  return outputs;
}

std::string GraphBuilder::addConstant(ElementType type, std::vector<int64_t> dims,
                                      std::string bytes) {
  std::string key = "constant " + std::to_string(static_cast<int32_t>(type)) + " ";
  for (int64_t size : dims)
    key += std::to_string(size) + ",";
  std::vector<std::string> &outputs = known[key + " " + bytes];
  if (outputs.empty()) {
    outputs.push_back("constant." + std::to_string(graph.initializers.size()));
    graph.initializers.push_back(
        {outputs.front(), type, std::move(dims), std::move(bytes), std::nullopt});
  }
  return outputs.front();
}

std::string GraphBuilder::addNumber(ElementType type, double number) {
  return addConstant(type, {}, toBytes(type, number));
}

std::string GraphBuilder::addInteger(int64_t integer) {
  return addConstant(ElementType::I64, {}, toBytes<int64_t>(integer));
}

std::string GraphBuilder::addIntegers(llvm::ArrayRef<int64_t> integers) {
  return addConstant(ElementType::I64, {static_cast<int64_t>(integers.size())}, toBytes(integers));
}

std::string GraphBuilder::addNumbers(llvm::ArrayRef<double> numbers) {
  return addConstant(ElementType::F64, {static_cast<int64_t>(numbers.size())}, toBytes(numbers));
}

std::string GraphBuilder::addExternal(Initializer tensor) {
  std::vector<std::string> &outputs = known["external " + tensor.name];
  if (outputs.empty()) {
    outputs.push_back(tensor.name);
    graph.initializers.push_back(std::move(tensor));
  }
  return outputs.front();
}

void GraphBuilder::addOutput(llvm::StringRef value, ValueInfo output) {
  graph.nodes.push_back({"Identity", {value.str()}, {output.name}, {}});
  graph.outputs.push_back(std::move(output));
}

Graph GraphBuilder::finish() {
  llvm::StringSet<> needed;
  for (const ValueInfo &output : graph.outputs)
    needed.insert(output.name);
  std::vector<Node> usedNodes;
  for (Node &node : llvm::reverse(graph.nodes)) {
    if (llvm::none_of(node.outputs, [&](const std::string &name) { return needed.contains(name); }))
      continue;
    for (const std::string &input : node.inputs)
      needed.insert(input);
    usedNodes.push_back(std::move(node));
  }
  std::reverse(usedNodes.begin(), usedNodes.end());
  graph.nodes = std::move(usedNodes);
  std::erase_if(graph.initializers,
                [&](const Initializer &tensor) { return !needed.contains(tensor.name); });
  return std::move(graph);
}
