// Builds a graph node by node.
//
// Equal nodes are one node: what every layer computes from the same inputs, such as a mask or the
// angles of positions, is computed once. Nodes whose results nobody needs are left out at the end.
#pragma once

#include "dialects/titan/Onnx/Model.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace titan::onnx {

class GraphBuilder {
public:
  explicit GraphBuilder(llvm::StringRef name) { graph.name = name; }

  /// The result of a node.
  std::string add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                  std::vector<NodeAttribute> attributes = {});
  /// The results of a node with several.
  std::vector<std::string> add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                               std::vector<NodeAttribute> attributes, unsigned results);

  /// A tensor of rank 0. Floating-point numbers are rounded to the type.
  std::string addNumber(ElementType type, double number);
  std::string addInteger(int64_t integer);
  /// A tensor of rank 1.
  std::string addIntegers(llvm::ArrayRef<int64_t> integers);
  std::string addNumbers(llvm::ArrayRef<double> numbers);
  /// A tensor that another file has.
  std::string addExternal(Initializer tensor);

  void addInput(ValueInfo input) { graph.inputs.push_back(std::move(input)); }
  /// Gives `value` the name of an output.
  void addOutput(llvm::StringRef value, ValueInfo output);

  /// The graph without nodes and tensors that no output needs.
  Graph finish();

private:
  std::string addConstant(ElementType type, std::vector<int64_t> dims, std::string bytes);

  Graph graph;
  llvm::StringMap<std::vector<std::string>> known; ///< by the text of the node: its results
};

} // namespace titan::onnx
