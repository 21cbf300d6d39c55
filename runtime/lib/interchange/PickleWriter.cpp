#include "PickleWriter.h"

#include <utility>

namespace titan::rt {

PickleWriter::PickleWriter() : text("\x80\x02") {}

void PickleWriter::appendBytes(uint64_t number, size_t width) {
  for (size_t i = 0; i < width; ++i)
    text += static_cast<char>(number >> (8 * i));
}

void PickleWriter::integer(int64_t value) {
  if (std::in_range<int32_t>(value)) {
    text += 'J';
    appendBytes(static_cast<uint64_t>(value), 4);
  } else {
    text += "\x8a\x08"; // eight bytes
    appendBytes(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::string(std::string_view value) {
  text += 'X';
  appendBytes(value.size(), 4);
  text += value;
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  text += 'c';
  text.append(module).append("\n").append(name).append("\n");
}

void PickleWriter::tuple(std::span<const int64_t> values) {
  mark();
  for (int64_t value : values)
    integer(value);
  endTuple();
}

std::string PickleWriter::finish() && {
  text += '.';
  return std::move(text);
}

} // namespace titan::rt
