#include "base/text/JsonInfinity.h"

#include <algorithm>
#include <limits>

namespace titan {

namespace {

/// A number, its mark, and the mark as a JSON string, padded to the length of the name.
struct Form {
  std::string_view name, mark, quoted;
  double value;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
// The longer name comes first: it ends with the other.
constexpr Form forms[] = {{"-Infinity", "\x02", "\"\\u0002\" ", -infinity},
                          {"Infinity", "\x01", "\"\\u0001\"", infinity}};
static_assert(forms[0].name.size() == forms[0].quoted.size() &&
              forms[1].name.size() == forms[1].quoted.size());

/// The end of the string that begins at `begin`, behind its closing quote.
size_t skipString(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size() && text[at] != '"')
    at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

} // namespace

std::optional<double> parseInfinity(std::string_view name) {
  for (const Form &form : forms)
    if (name == form.name)
      return form.value;
  return std::nullopt;
}

std::string markInfinities(std::string_view text) {
  std::string marked(text);
  for (size_t at = 0; at < text.size();) {
    size_t next = text[at] == '"' ? skipString(text, at) : at + 1;
    for (const Form &form : forms)
      if (text.substr(at, form.name.size()) == form.name) {
        marked.replace(at, form.name.size(), form.quoted);
        next = at + form.name.size();
        break;
      }
    at = next;
  }
  return marked;
}

std::string_view getMarkedName(std::string_view mark) {
  for (const Form &form : forms)
    if (mark == form.mark)
      return form.name;
  return {};
}

std::string_view getMark(std::string_view name) {
  for (const Form &form : forms)
    if (name == form.name)
      return form.mark;
  return {};
}

std::string unmarkInfinities(std::string text) {
  for (const Form &form : forms) {
    const std::string_view quoted = form.quoted.substr(0, form.quoted.rfind('"') + 1);
    for (size_t at = 0; (at = text.find(quoted, at)) != std::string::npos; at += form.name.size())
      text.replace(at, quoted.size(), form.name);
  }
  return text;
}

} // namespace titan
