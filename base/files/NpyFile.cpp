#include "base/files/NpyFile.h"
#include "base/Error.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan {

namespace {

/// No writer of the format makes a longer header.
constexpr size_t maxNpyHeaderBytes = 1 << 20;

/// Types of `descr`, after the mark of the byte order, and of the safetensors format.
const std::map<std::string_view, const char *> elementTypes = {
    {"f8", "F64"}, {"f4", "F32"}, {"f2", "F16"}, {"i8", "I64"}, {"i4", "I32"}, {"i2", "I16"},
    {"i1", "I8"},  {"u8", "U64"}, {"u4", "U32"}, {"u2", "U16"}, {"u1", "U8"},  {"b1", "BOOL"}};

/// Parses one file. Every error names it.
class NpyHeaderParser {
public:
  explicit NpyHeaderParser(const MappedFile &file) : file(file) {}

  StoredTensor run() {
    readPreamble();
    readDictionary();
    if (descr.empty() || !hasShape || !hasOrder)
      fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    if (isColumnMajor)
      fail("a column-major array; save it with numpy.ascontiguousarray");
    return makeTensor();
  }

private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args &&...args) const {
    throw UserError(file.path() + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  void readPreamble() {
    std::span<const std::byte> bytes = file.bytes();
    const char *begin = reinterpret_cast<const char *>(bytes.data());
    if (bytes.size() < 10 || std::string_view(begin, 6) != "\x93NUMPY")
      fail("not an .npy file");
    const auto at = [&](size_t i) { return std::to_integer<size_t>(bytes[i]); };
    const size_t version = at(6), lengthBytes = version == 1 ? 2 : 4;
    if (version < 1 || version > 3)
      fail("version {} of the .npy format, expected 1 to 3", version);
    if (bytes.size() < 8 + lengthBytes)
      fail("truncated: {} bytes", bytes.size());
    size_t length = 0;
    for (size_t i = lengthBytes; i-- > 0;)
      length = length << 8 | at(8 + i);
    const size_t start = 8 + lengthBytes;
    if (length > maxNpyHeaderBytes)
      fail("a header of {} bytes, at most {} are read", length, maxNpyHeaderBytes);
    if (length > bytes.size() - start)
      fail("truncated: a header of {} bytes in a file of {}", length, bytes.size());
    rest = std::string_view(begin + start, length);
    elements = bytes.subspan(start + length);
  }

  void readDictionary() {
    expect('{');
    while (!accept('}')) {
      const std::string key = readString();
      expect(':');
      if (key == "descr")
        readDescr();
      else if (key == "fortran_order")
        readOrder();
      else if (key == "shape")
        readShape();
      else
        fail("the header has the unknown key '{}'", key);
      if (!accept(',') && !starts('}'))
        fail("the header is not a dictionary");
    }
  }

  void readDescr() {
    if (starts('['))
      fail("an array of records; save each field as an array of its own");
    descr = readString();
    if (descr.find('O') != std::string::npos)
      fail("an array of Python objects (a pickle), which cannot be read; save numbers");
  }

  void readOrder() {
    hasOrder = true;
    skipSpace();
    for (const auto &[word, value] : {std::pair("True", true), std::pair("False", false)})
      if (rest.starts_with(word)) {
        rest.remove_prefix(std::string_view(word).size());
        isColumnMajor = value;
        return;
      }
    fail("'fortran_order' is neither True nor False");
  }

  void readShape() {
    hasShape = true;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t size = -1;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc() || size < 0)
        fail("'shape' is not a tuple of sizes");
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      shape.push_back(size);
      if (!accept(',') && !starts(')'))
        fail("'shape' is not a tuple of sizes");
    }
  }

  StoredTensor makeTensor() const {
    const std::string_view name = descr;
    const auto found = elementTypes.find(name.substr(std::min<size_t>(1, name.size())));
    if (name.empty() || std::string_view("<|=").find(name[0]) == std::string_view::npos ||
        found == elementTypes.end())
      fail("elements of the type '{}'; supported are little-endian integers, booleans and "
           "floating-point numbers{}",
           descr,
           name.starts_with('>') ? "; of an array, `a.astype(a.dtype.newbyteorder('<'))` is "
                                   "little-endian"
                                 : "");
    int64_t bytes = storedBytes(found->second).value();
    for (int64_t size : shape)
      if (__builtin_mul_overflow(bytes, size, &bytes))
        fail("the shape [{}] is larger than any file", fmt::join(shape, ", "));
    if (static_cast<uint64_t>(bytes) != elements.size())
      fail("the shape [{}] of '{}' needs {} bytes, but {} follow the header; the file is truncated "
           "or damaged",
           fmt::join(shape, ", "), descr, bytes, elements.size());
    return {found->second, shape, elements};
  }

  void skipSpace() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n'))
      rest.remove_prefix(1);
  }

  bool starts(char mark) {
    skipSpace();
    return !rest.empty() && rest[0] == mark;
  }

  bool accept(char mark) {
    if (!starts(mark))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char mark) {
    if (!accept(mark))
      fail("the header is not a dictionary: expected '{}'", mark);
  }

  std::string readString() {
    const char quote = starts('"') ? '"' : '\'';
    expect(quote);
    const size_t end = rest.find(quote);
    if (end == std::string_view::npos)
      fail("the header is not a dictionary: a string has no end");
    std::string text(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return text;
  }

  const MappedFile &file;
  std::string_view rest; ///< of the header
  std::span<const std::byte> elements;
  std::string descr;
  std::vector<int64_t> shape;
  bool hasShape = false, hasOrder = false, isColumnMajor = false;
};

} // namespace

NpyFile::NpyFile(const std::string &path, bool checksTruncation)
    : file(path, checksTruncation), content(NpyHeaderParser(file).run()) {}

} // namespace titan
