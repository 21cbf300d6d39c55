// Reads and writes tensors in safetensors files.

#include "compiler/interpreter/Files.h"

#include "base/Error.h"
#include "base/files/Safetensors.h"

#include <bit>
#include <cstring>

using namespace mlir;
using namespace titan;
using ir::HostTensor;

namespace {

template <typename T> void widen(std::span<const std::byte> bytes, std::vector<double> &out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

/// Converts the element types that the interpreter supports; fails for others.
bool convert(const StoredTensor &stored, std::vector<double> &out) {
  if (stored.dtype == "F64")
    widen<double>(stored.bytes, out);
  else if (stored.dtype == "F32")
    widen<float>(stored.bytes, out);
  else if (stored.dtype == "I64")
    widen<int64_t>(stored.bytes, out);
  else if (stored.dtype == "I32")
    widen<int32_t>(stored.bytes, out);
  else if (stored.dtype == "BOOL" || stored.dtype == "U8")
    widen<uint8_t>(stored.bytes, out);
  else if (stored.dtype == "BF16") {
    widen<uint16_t>(stored.bytes, out);
    for (double &value : out)
      value = std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
  } else
    return false;
  return true;
}

} // namespace

FailureOr<std::map<std::string, HostTensor>> interpreter::readTensors(const std::string &path) {
  std::map<std::string, HostTensor> tensors;
  try {
    SafetensorsFile file(path);
    for (const auto &[name, stored] : file.tensors()) {
      HostTensor tensor;
      tensor.shape.assign(stored.shape.begin(), stored.shape.end());
      int64_t elements = 1;
      for (int64_t size : stored.shape)
        elements *= size;
      tensor.data.resize(elements);
      if (!convert(stored, tensor.data)) {
        llvm::errs() << path << ": cannot read '" << name << "' of type " << stored.dtype << '\n';
        return failure();
      }
      tensors[name] = std::move(tensor);
    }
  } catch (const std::exception &error) {
    llvm::errs() << error.what() << '\n';
    return failure();
  }
  return tensors;
}

LogicalResult interpreter::writeTensors(const std::string &path,
                                        const std::map<std::string, HostTensor> &tensors) {
  try {
    std::vector<TensorSpec> specs;
    for (const auto &[name, tensor] : tensors)
      specs.push_back({name, DType::F64, {tensor.shape.begin(), tensor.shape.end()}});
    SafetensorsWriter writer(path, specs);
    size_t index = 0;
    for (const auto &entry : tensors)
      writer.write(index++, 0, std::as_bytes(std::span(entry.second.data)));
    writer.finish();
  } catch (const std::exception &error) {
    llvm::errs() << error.what() << '\n';
    return failure();
  }
  return success();
}
