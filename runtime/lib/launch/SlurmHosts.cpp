// Expands Slurm's compressed host lists (slurmHosts of Launch.h).
#include "Launch.h"

#include <charconv>
#include <string_view>

namespace titan::rt {

namespace {

using Names = std::vector<std::string>;

/// Splits at commas outside of brackets.
std::vector<std::string_view> splitAtCommas(std::string_view list) {
  std::vector<std::string_view> segments;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      segments.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    } else if (list[i] == '[') {
      ++depth;
    } else if (list[i] == ']' && depth > 0) {
      --depth;
    }
  }
  return segments;
}

std::string padded(long number, size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

bool readNumber(std::string_view text, long &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// "07-09,12" -> 07, 08, 09, 12: all numbers have the width of the first.
void expandRanges(std::string_view ranges, size_t maxHosts, Names &names) {
  for (std::string_view range : splitAtCommas(ranges)) {
    size_t dash = range.find('-');
    long first = 0, last = 0;
    if (dash == std::string_view::npos || !readNumber(range.substr(0, dash), first) ||
        !readNumber(range.substr(dash + 1), last)) {
      if (names.size() < maxHosts)
        names.emplace_back(range);
      continue;
    }
    for (long number = first; number <= last && names.size() < maxHosts; ++number)
      names.push_back(padded(number, dash));
  }
}

/// The bracket that closes the one at `open`.
size_t closingBracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 0)
      return i;
  }
  return std::string_view::npos;
}

/// Expands one entry: its brackets from left to right, the last one fastest.
void expandEntry(std::string_view entry, size_t maxHosts, Names &names) {
  size_t open = entry.find('[');
  size_t close = open == std::string_view::npos ? open : closingBracket(entry, open);
  if (close == std::string_view::npos) {
    if (names.size() < maxHosts)
      names.emplace_back(entry);
    return;
  }
  Names middles, ends;
  for (std::string_view inner : splitAtCommas(entry.substr(open + 1, close - open - 1))) {
    if (inner.find('[') == std::string_view::npos)
      expandRanges(inner, maxHosts, middles);
    else
      expandEntry(inner, maxHosts, middles);
  }
  expandEntry(entry.substr(close + 1), maxHosts, ends);
  for (const std::string &middle : middles)
    for (const std::string &end : ends)
      if (names.size() < maxHosts)
        names.push_back(std::string(entry.substr(0, open)) + middle + end);
}

} // namespace

std::vector<std::string> slurmHosts(const std::string &nodeList, size_t maxHosts) {
  Names names;
  for (std::string_view entry : splitAtCommas(nodeList))
    expandEntry(entry, maxHosts, names);
  return names;
}

std::string firstSlurmHost(const std::string &nodeList) {
  Names names = slurmHosts(nodeList, 1);
  return names.empty() ? "" : names.front();
}

} // namespace titan::rt
