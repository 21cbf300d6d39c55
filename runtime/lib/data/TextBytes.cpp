// A file as a TokenStream in which each byte is a token and the file is one document.
#include "TokenStream.h"
#include "base/files/MappedFile.h"

namespace titan::rt {

namespace {

class TextBytes final : public TokenStream {
public:
  explicit TextBytes(const std::string &path) : file(path, /*checksTruncation=*/true) {}

  int64_t size() const override { return static_cast<int64_t>(file.bytes().size()); }
  int64_t leastToken() const override { return 0; }
  int64_t vocabulary() const override { return 256; }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    file.requireUntruncated();
    const std::byte *bytes = file.bytes().data() + first;
    for (int64_t i = 0; i < count; ++i)
      out[i] = std::to_integer<int64_t>(bytes[i]);
    file.release();
  }
  int64_t nextDocument(int64_t) const override { return size(); }
  void forEachDocument(const std::function<void(int64_t, int64_t)> &visit) const override {
    visit(0, size());
  }

private:
  MappedFile file;
};

} // namespace

std::unique_ptr<TokenStream> openTextBytes(const std::string &path) {
  return std::make_unique<TextBytes>(path);
}

} // namespace titan::rt
