// Text for signal handlers, which must not allocate: a line of bounded length, written by system
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>

namespace titan::rt {

class SafeText {
public:
  SafeText &operator<<(int64_t number) {
    char digits[20];
    size_t count = 0;
    auto rest = static_cast<uint64_t>(number);
    if (number < 0) {
      put('-');
      rest = -rest;
    }
    do
      digits[count++] = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    while (count > 0)
      put(digits[--count]);
    return *this;
  }
  SafeText &operator<<(int number) { return *this << int64_t{number}; }
  SafeText &operator<<(const char *text) {
    for (; *text; ++text)
      put(*text);
    return *this;
  }
  SafeText &operator<<(const SafeText &other) { return *this << other.text(); }

  /// Escaped as the content of a JSON string.
  SafeText &json(const char *text) {
    for (; *text; ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      if (byte == '"' || byte == '\\')
        put('\\');
      put(byte < 0x20 || byte >= 0x7f ? '?' : *text);
    }
    return *this;
  }

  const char *text() const { return bytes; }
  size_t size() const { return length; }

  bool writeTo(int file) const {
    size_t done = 0;
    while (done < length) {
      const ssize_t count = ::write(file, bytes + done, length - done);
      if (count <= 0)
        return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }

private:
  void put(char byte) {
    if (length + 1 < sizeof bytes)
      bytes[length++] = byte;
  }

  char bytes[2048] = {};
  size_t length = 0;
};

} // namespace titan::rt
