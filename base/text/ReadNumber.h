// The syntax of numbers, for the compiler and for its programs: a file, a command line and a
// configuration agree on it. Header-only.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace titan {

struct NumberText {
  enum class Fault { None, NoNumber, TooLarge, TooSmall };
  Fault fault = Fault::NoNumber;
  bool isWhole = false; ///< without a point and an exponent
  int64_t integer = 0;  ///< of a whole number; out of range is TooLarge
  double number = 0;
  std::string text; ///< without surrounding spaces, underscores and leading zeros

  explicit operator bool() const { return fault == Fault::None; }
};

namespace detail {

/// Reads `[0-9]('_'?[0-9])*` from `at`. False if there is no digit.
inline bool readDigits(std::string_view text, size_t &at, std::string &digits) {
  auto isDigit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (!isDigit(at))
    return false;
  while (isDigit(at) || (at < text.size() && text[at] == '_' && isDigit(at + 1))) {
    if (text[at] != '_')
      digits += text[at];
    ++at;
  }
  return true;
}

/// Whether a number out of float64's range is too large, rather than too small.
inline bool isHuge(std::string_view mantissa, std::string_view exponent) {
  if (!exponent.empty() && exponent.size() > 6)
    return exponent[0] != '-';
  int tens = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), tens);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const int before =
      first < point ? static_cast<int>(point - first) : -static_cast<int>(first - point);
  return before + tens > 0;
}

} // namespace detail

/// Digits with optional underscores, an optional point with digits on both sides, an optional
/// exponent: `1_000`, `3e-4`, `-0.5`. Surrounding spaces are ignored.
inline NumberText readNumber(std::string_view text) {
  NumberText read;
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos)
    return read;
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  size_t at = 0;
  std::string mantissa, exponent;
  if (text[0] == '-' || text[0] == '+')
    mantissa = text[at++] == '-' ? "-" : "";
  if (!detail::readDigits(text, at, mantissa))
    return read;
  const size_t sign = mantissa[0] == '-' ? 1 : 0;
  while (mantissa.size() > sign + 1 && mantissa[sign] == '0')
    mantissa.erase(sign, 1);
  read.isWhole = true;
  if (at < text.size() && text[at] == '.') {
    mantissa += text[at++];
    read.isWhole = false;
    if (!detail::readDigits(text, at, mantissa))
      return read;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    read.isWhole = false;
    if (++at < text.size() && (text[at] == '-' || text[at] == '+'))
      exponent = text[at++] == '-' ? "-" : "";
    if (!detail::readDigits(text, at, exponent))
      return read;
  }
  if (at != text.size())
    return read;
  read.text = mantissa + (exponent.empty() ? "" : "e" + exponent);
  const char *first = read.text.data(), *last = first + read.text.size();
  const bool isBeyond = std::from_chars(first, last, read.number).ec != std::errc();
  const bool fits = !read.isWhole || std::from_chars(first, last, read.integer).ec == std::errc();
  read.fault = isBeyond && !detail::isHuge(mantissa, exponent) ? NumberText::Fault::TooSmall
               : isBeyond || !fits                             ? NumberText::Fault::TooLarge
                                                               : NumberText::Fault::None;
  return read;
}

/// A help text for a malformed number; empty if there is none.
inline std::string whyNoNumber(std::string_view text) {
  switch (readNumber(text).fault) {
  case NumberText::Fault::TooSmall:
    return "the least positive float64 is about 4.9e-324";
  case NumberText::Fault::TooLarge:
    return "integers have 64 bits, other numbers are float64, up to about 1.8e308";
  case NumberText::Fault::NoNumber:
  case NumberText::Fault::None:
    break;
  }
  const size_t point = text.find('.');
  const bool isNumeric =
      !text.empty() && text.find_first_not_of("0123456789_.eE+- \t") == text.npos;
  return isNumeric && point != text.npos && text.find_first_of("0123456789") != text.npos
             ? "a number has digits on both sides of its point: `0.5`, `3.0e-4`"
             : "";
}

} // namespace titan
