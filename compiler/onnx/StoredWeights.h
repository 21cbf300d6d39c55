// Weights in safetensors files as tensors of a graph.
//
// The graph refers to the bytes in the files: nothing is copied. Where files store a parameter in
// another layout or element type, operators convert it, which runtimes do once, when they load the
// model.
#pragma once

#include "compiler/onnx/TranslateProgram.h"

#include "base/files/Safetensors.h"

#include <memory>

namespace titan::onnx {

class StoredWeights {
public:
  /// Of the safetensors files in `directory`. `map`: how they store parameters; null: each has its
  /// own name. Throws UserError that names the file.
  StoredWeights(const std::string &directory, ir::WeightMapAttr map);

  /// The tensor of a parameter. Throws UserError if the files lack it, or it has another shape.
  Tensor read(Translation &translation, const ParameterSlot &slot) const;

private:
  struct Entry {
    std::string file; ///< in the directory
    ElementType type;
    std::vector<int64_t> shape;
    int64_t offset, length;
  };

  void addFile(const std::string &path);
  Tensor readStored(Translation &translation, const std::string &name,
                    const std::vector<int64_t> &shape) const;
  Tensor readMapped(Translation &translation, const ParameterSlot &slot,
                    ir::StoredParameterAttr stored) const;

  std::string directory;
  std::map<std::string, Entry> entries;
  std::map<std::string, ir::StoredParameterAttr> stored; ///< by parameter
  std::map<std::string, std::string> originals;          ///< copies and what they equal
  std::vector<std::string> merged;
  bool isMapped;
};

} // namespace titan::onnx
