// A libFuzzer entry point for the readers of data files. The first byte of an input chooses the
// reader: .npy, .safetensors, the .idx of tokens, or the index of several .safetensors. The reader
// accepts the other bytes or throws UserError. All elements of an accepted file must be readable.
#include "base/Error.h"
#include "base/data/TokenIndex.h"
#include "base/files/NpyFile.h"
#include "base/files/Safetensors.h"
#include "runtime/lib/weights/ShardIndex.h"
#include "tests/fuzz/Demand.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace titan;

namespace {

using Bytes = std::span<const std::byte>;

/// A file in memory with this content, until the object is destroyed.
class File {
public:
  explicit File(Bytes content) : descriptor(::memfd_create("input", 0)) {
    demand(::write(descriptor, content.data(), content.size()) ==
               static_cast<ssize_t>(content.size()),
           "cannot write the input");
  }
  ~File() { ::close(descriptor); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

/// Checks that the tensor is within the file, and reads each byte.
void readWhole(const StoredTensor &tensor, Bytes file) {
  demand(tensor.bytes.empty() ||
             (tensor.bytes.data() >= file.data() &&
              tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size()),
         "a tensor exceeds its file");
  volatile unsigned sum = 0;
  for (std::byte byte : tensor.bytes)
    sum = sum + std::to_integer<unsigned>(byte);
}

void readNpy(Bytes content) {
  const File file(content);
  const NpyFile npy(file.path());
  readWhole(npy.array(), npy.mapping().bytes());
}

void readSafetensors(Bytes content) {
  const File file(content);
  const SafetensorsFile safetensors(file.path());
  for (const auto &[name, tensor] : safetensors.tensors())
    readWhole(tensor, safetensors.mapping().bytes());
}

/// The first four bytes are the size of the token file.
void readIndex(Bytes content) {
  uint32_t tokenBytes = 0;
  if (content.size() < sizeof(tokenBytes))
    return;
  std::memcpy(&tokenBytes, content.data(), sizeof(tokenBytes));
  // A block of its own, whose bounds the sanitizer watches.
  const std::vector<std::byte> index(content.begin() + sizeof(tokenBytes), content.end());
  const TokenIndex parsed = readTokenIndex(index, tokenBytes, "input");
  demand(parsed.tokens * getByteSize(parsed.type) == tokenBytes, "tokens do not fill their file");
  for (int64_t i = 0, last = 0; i < parsed.documents; ++i) {
    const int64_t start = documentStart(index, parsed, i);
    demand(start >= last && start <= parsed.tokens, "documents are not in order");
    last = start;
  }
}

/// Checks that each listed file is in the directory of the index.
void readShardIndex(Bytes content) {
  const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
  for (const std::string &name : rt::listShardFiles(text, "input")) {
    const std::filesystem::path path = std::filesystem::path("directory") / name.c_str();
    demand(path.lexically_normal() == "directory/" + name, "a file is outside of the directory");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const Bytes content = std::as_bytes(std::span(data + 1, size - 1));
  try {
    switch (data[0] % 4) {
    case 0:
      readNpy(content);
      break;
    case 1:
      readSafetensors(content);
      break;
    case 2:
      readIndex(content);
      break;
    default:
      readShardIndex(content);
    }
  } catch (const UserError &) {
  }
  return 0;
}
