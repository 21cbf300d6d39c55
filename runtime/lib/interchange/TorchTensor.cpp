#include "TorchTensor.h"

#include "Pickle.h"
#include "PickleWriter.h"

#include "base/Error.h"
#include "base/files/Crc32.h"
#include "base/files/Safetensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

namespace {

using Bytes = std::span<const std::byte>;

const std::map<std::string_view, std::string_view> &storageTypes() {
  static const std::map<std::string_view, std::string_view> types = {
      {"torch DoubleStorage", "F64"}, {"torch FloatStorage", "F32"},
      {"torch HalfStorage", "F16"},   {"torch BFloat16Storage", "BF16"},
      {"torch LongStorage", "I64"},   {"torch IntStorage", "I32"},
      {"torch ShortStorage", "I16"},  {"torch CharStorage", "I8"},
      {"torch ByteStorage", "U8"},    {"torch BoolStorage", "BOOL"}};
  return types;
}

const std::set<std::string_view> &knownGlobals() {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all = {"torch._utils _rebuild_tensor_v2", "collections OrderedDict"};
    for (const auto &[storage, type] : storageTypes())
      all.insert(storage);
    return all;
  }();
  return names;
}

/// The files in a zip archive: APPNOTE.TXT of PKWARE, sections 4.3.7 to 4.3.16 and 4.5.3.
class Archive {
public:
  Archive(const std::string &name, Bytes bytes) : name(name), bytes(bytes) {}

  /// The content of the file FOLDER/`wanted`, whatever the folder.
  Bytes find(std::string_view wanted) const {
    const Directory directory = findDirectory();
    for (uint64_t number = 0, at = directory.begin; number < directory.entries; ++number) {
      require(at, entryBytes);
      if (read(at, 4) != 0x02014b50)
        fail();
      const uint64_t nameBytes = read(at + 28, 2), extraBytes = read(at + 30, 2);
      require(at + entryBytes, nameBytes + extraBytes);
      const std::string_view path(reinterpret_cast<const char *>(bytes.data() + at + entryBytes),
                                  nameBytes);
      const size_t slash = path.find('/');
      if (slash != std::string_view::npos && path.substr(slash + 1) == wanted)
        return getContent(at, at + entryBytes + nameBytes, extraBytes);
      at += entryBytes + nameBytes + extraBytes + read(at + 32, 2);
    }
    throw UserError(fmt::format("{}: an archive has no file '{}'", name, wanted));
  }

private:
  struct Directory {
    uint64_t begin, entries;
  };
  static constexpr uint64_t entryBytes = 46, localBytes = 30, endBytes = 22, wideEndBytes = 56;
  static constexpr uint64_t isWide = 0xffffffff; ///< the number is in a field of 64 bits

  [[noreturn]] void fail() const { throw UserError(name + ": a damaged archive of PyTorch"); }

  void require(uint64_t at, uint64_t count) const {
    if (at > bytes.size() || count > bytes.size() - at)
      fail();
  }

  uint64_t read(uint64_t at, size_t width) const {
    require(at, width);
    uint64_t number = 0;
    for (size_t i = 0; i < width; ++i)
      number |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
    return number;
  }

  /// PyTorch writes no comment, so the record is at the end.
  Directory findDirectory() const {
    if (bytes.size() < endBytes)
      fail();
    const uint64_t end = bytes.size() - endBytes;
    if (read(end, 4) != 0x06054b50)
      fail();
    const Directory narrow{read(end + 16, 4), read(end + 10, 2)};
    if (narrow.begin != isWide && narrow.entries != 0xffff)
      return narrow;
    if (end < 20 || read(end - 20, 4) != 0x07064b50)
      fail();
    const uint64_t wide = read(end - 20 + 8, 8);
    require(wide, wideEndBytes);
    if (read(wide, 4) != 0x06064b50)
      fail();
    return {read(wide + 48, 8), read(wide + 32, 8)};
  }

  /// `entry`: of the directory; `extra`: its fields of 64 bits.
  Bytes getContent(uint64_t entry, uint64_t extra, uint64_t extraBytes) const {
    constexpr uint64_t isStored = 0;
    uint64_t packed = read(entry + 20, 4), size = read(entry + 24, 4), local = read(entry + 42, 4);
    for (uint64_t at = extra; at + 4 <= extra + extraBytes; at += 4 + read(at + 2, 2))
      if (read(at, 2) == 1) {
        uint64_t field = at + 4;
        for (uint64_t *number : {&size, &packed, &local}) // in this order
          if (*number == isWide) {
            *number = read(field, 8);
            field += 8;
          }
      }
    if (read(entry + 10, 2) != isStored || packed != size)
      throw UserError(name + ": a compressed archive, which PyTorch does not write");
    require(local, localBytes);
    const uint64_t begin = local + localBytes + read(local + 26, 2) + read(local + 28, 2);
    require(begin, size);
    return bytes.subspan(begin, size);
  }

  const std::string &name;
  Bytes bytes;
};

std::optional<std::vector<int64_t>> readIntegers(const Pickle::Value &tuple) {
  if (!tuple.is(Pickle::Kind::Tuple))
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Pickle::Value *item : tuple.items) {
    if (!item->is(Pickle::Kind::Integer) || item->integer < 0)
      return std::nullopt;
    numbers.push_back(item->integer);
  }
  return numbers;
}

/// The elements of the storage from the first to the last of the tensor; nothing if it is too
/// large.
std::optional<int64_t> countSpan(const TorchTensor &tensor) {
  int64_t last = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] == 0)
      return 0;
    int64_t distance = 0;
    if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &distance) ||
        __builtin_add_overflow(last, distance, &last))
      return std::nullopt;
  }
  return last + 1;
}

} // namespace

TorchTensor readTorchTensor(const std::string &name, std::span<const std::byte> bytes) {
  using Kind = Pickle::Kind;
  const Archive archive(name, bytes);
  const Pickle pickle(name, archive.find("data.pkl"), knownGlobals());
  const Pickle::Value &root = pickle.root();
  auto fail = [&]() -> TorchTensor { throw UserError(name + ": a tensor in an unknown form"); };
  if (!root.isCall("torch._utils _rebuild_tensor_v2") || root.items[1]->items.size() < 4)
    return fail();
  const std::vector<const Pickle::Value *> &arguments = root.items[1]->items;
  const Pickle::Value *storage = arguments[0], *begin = arguments[1];
  if (!storage->is(Kind::Persistent) || !storage->items[0]->is(Kind::Tuple) ||
      storage->items[0]->items.size() != 5 || !begin->is(Kind::Integer) || begin->integer < 0)
    return fail();
  // ("storage", its type, its file, a device, a number of elements)
  const Pickle::Value *type = storage->items[0]->items[1], *file = storage->items[0]->items[2];
  const auto known = storageTypes().find(type->text);
  const auto shape = readIntegers(*arguments[2]), strides = readIntegers(*arguments[3]);
  if (known == storageTypes().end() || !file->is(Kind::Text) || !shape || !strides ||
      shape->size() != strides->size())
    return fail();
  if (const Bytes order = archive.find("byteorder");
      std::string_view(reinterpret_cast<const char *>(order.data()), order.size()) != "little")
    throw UserError(name + ": a tensor whose bytes are not in little-endian order");
  TorchTensor tensor{std::string(known->second), *shape, *strides,
                     archive.find(fmt::format("data/{}", file->text))};
  const int64_t size = *storedBytes(tensor.dtype),
                available = std::ssize(tensor.elements) / size - begin->integer;
  const std::optional<int64_t> needed = countSpan(tensor);
  if (!needed || *needed > available)
    throw UserError(name + ": a tensor is larger than its storage");
  tensor.elements = tensor.elements.subspan(static_cast<size_t>(begin->integer * size));
  return tensor;
}

namespace {

void appendBytes(std::string &text, uint64_t number, size_t width) {
  for (size_t i = 0; i < width; ++i)
    text += static_cast<char>(number >> (8 * i));
}

/// Writes the records of an archive: those of files before their content, and the directory.
class ArchiveWriter {
public:
  /// A file of `size` bytes, whose content follows.
  void beginFile(const std::string &name, uint64_t size, uint32_t checksum, size_t alignment) {
    constexpr size_t localBytes = 30, extraHead = 4;
    // PyTorch aligns contents by an extra field, too.
    const size_t unaligned = position + text.size() + localBytes + name.size();
    size_t padding =
        alignment > 1 ? (alignment - (unaligned + extraHead) % alignment) % alignment : 0;
    std::string extra;
    if (alignment > 1) {
      extra = "FB";
      appendBytes(extra, padding, 2);
      extra.append(padding, 'Z');
    }
    const uint64_t at = position + text.size();
    const std::string fields = makeFields(name, size, checksum);
    appendBytes(text, 0x04034b50, 4);
    text += fields;
    appendBytes(text, extra.size(), 2);
    text += name + extra;
    appendBytes(directory, 0x02014b50, 4);
    appendBytes(directory, 0, 2);
    directory += fields;
    directory.append(12, '\0'); // no extra field, comment, or attributes
    appendBytes(directory, at, 4);
    directory += name;
    ++entries;
  }
  void addFile(const std::string &name, std::string_view content) {
    beginFile(name, content.size(), crc32(content), 1);
    text += content;
  }
  /// Returns the text so far; `skipped` bytes follow it.
  std::string take(uint64_t skipped) {
    position += text.size() + skipped;
    return std::exchange(text, {});
  }
  void finish() {
    const uint64_t at = position + text.size();
    text += directory;
    appendBytes(text, 0x06054b50, 4);
    appendBytes(text, 0, 4);
    appendBytes(text, entries, 2);
    appendBytes(text, entries, 2);
    appendBytes(text, directory.size(), 4);
    appendBytes(text, at, 4);
    appendBytes(text, 0, 2);
  }

private:
  /// From the version that reads the file to the length of its name.
  static std::string makeFields(const std::string &name, uint64_t size, uint32_t checksum) {
    std::string fields;
    appendBytes(fields, 10, 2);
    appendBytes(fields, 0, 2);    // flags
    appendBytes(fields, 0, 2);    // stored
    appendBytes(fields, 0, 2);    // time
    appendBytes(fields, 0x21, 2); // 1980-01-01
    appendBytes(fields, checksum, 4);
    appendBytes(fields, size, 4);
    appendBytes(fields, size, 4);
    appendBytes(fields, name.size(), 2);
    return fields;
  }

  std::string text, directory;
  uint64_t position = 0; ///< of the text
  uint64_t entries = 0;
};

std::vector<int64_t> getRowMajorStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// The pickle of a tensor whose elements are in the file `data/0`.
std::string makeTensorPickle(std::string_view dtype, std::span<const int64_t> shape,
                             int64_t count) {
  const auto storage =
      std::ranges::find(storageTypes(), dtype, [](const auto &entry) { return entry.second; });
  if (storage == storageTypes().end())
    throw UserError(
        fmt::format("PyTorch's archives of tensors have no elements of type {}", dtype));
  PickleWriter pickle;
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.mark();
  pickle.mark();
  pickle.string("storage");
  pickle.global("torch", storage->first.substr(storage->first.find(' ') + 1));
  pickle.string("0");
  pickle.string("cpu");
  pickle.integer(count);
  pickle.endTuple();
  pickle.persistent();
  pickle.integer(0);
  pickle.tuple(shape);
  pickle.tuple(getRowMajorStrides(shape));
  pickle.truth(false);
  pickle.global("collections", "OrderedDict");
  pickle.emptyTuple();
  pickle.call();
  pickle.endTuple();
  pickle.call();
  return std::move(pickle).finish();
}

} // namespace

TorchArchive makeTorchArchive(std::string_view dtype, std::span<const int64_t> shape,
                              Bytes elements) {
  constexpr size_t alignment = 64;
  const std::string_view content(reinterpret_cast<const char *>(elements.data()), elements.size());
  const int64_t count = std::ssize(elements) / storedBytes(std::string(dtype)).value_or(1);
  ArchiveWriter writer;
  writer.addFile("archive/data.pkl", makeTensorPickle(dtype, shape, count));
  writer.addFile("archive/byteorder", "little");
  writer.beginFile("archive/data/0", elements.size(), crc32(content), alignment);
  TorchArchive archive;
  archive.head = writer.take(elements.size());
  writer.addFile("archive/version", "3\n");
  writer.finish();
  archive.tail = writer.take(0);
  return archive;
}

} // namespace titan::rt
