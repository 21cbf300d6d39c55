// A graph as text: `logits (int64[batch, sequence] input_ids) => (float[...] logits) { ... }`.

#include "dialects/titan/Onnx/Model.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan::onnx;

static llvm::StringRef getName(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "float";
  case ElementType::I64:
    return "int64";
  case ElementType::Bool:
    return "bool";
  case ElementType::F16:
    return "float16";
  case ElementType::F64:
    return "double";
  case ElementType::BF16:
    return "bfloat16";
  }
  return "";
}

static std::string joinIntegers(llvm::ArrayRef<int64_t> integers) {
  return llvm::join(llvm::map_range(integers, [](int64_t i) { return std::to_string(i); }), ", ");
}

static std::string describe(const ValueInfo &value) {
  std::vector<std::string> dims;
  for (const Dim &dim : value.dims)
    dims.push_back(dim.symbol.empty() ? std::to_string(dim.size) : dim.symbol);
  return (getName(value.type) + "[" + llvm::join(dims, ", ") + "] " + value.name).str();
}

static std::string describe(const std::vector<ValueInfo> &values) {
  return llvm::join(llvm::map_range(values, [](const ValueInfo &v) { return describe(v); }), ", ");
}

static std::string describe(const NodeAttribute &attribute) {
  if (const auto *integer = std::get_if<int64_t>(&attribute.value))
    return attribute.name + " = " + std::to_string(*integer);
  return attribute.name + " = [" + joinIntegers(std::get<std::vector<int64_t>>(attribute.value)) +
         "]";
}

static void printNode(const Node &node, llvm::raw_ostream &out) {
  out << "  " << llvm::join(node.outputs, ", ") << " = " << node.op;
  if (!node.attributes.empty())
    out << " <"
        << llvm::join(
               llvm::map_range(node.attributes, [](const NodeAttribute &a) { return describe(a); }),
               ", ")
        << '>';
  out << " (" << llvm::join(node.inputs, ", ") << ")\n";
}

void titan::onnx::print(const Graph &graph, llvm::raw_ostream &out) {
  out << graph.name << " (" << describe(graph.inputs) << ") => (" << describe(graph.outputs)
      << ")\n{\n";
  for (const Initializer &tensor : graph.initializers)
    out << "  # " << getName(tensor.type) << '[' << joinIntegers(tensor.dims) << "] " << tensor.name
        << '\n';
  for (const Node &node : graph.nodes)
    printNode(node, out);
  out << "}\n";
}
