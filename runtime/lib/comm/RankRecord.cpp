#include "RankRecord.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

constexpr std::string_view kHeader = "titan rank record 1";
constexpr size_t kMaxBytes = 1 << 20, kMaxFields = 4096;
/// Limits of an error message, since a record may have hundreds of fields with values of any
/// length.
constexpr size_t kShownFields = 8, kShownBytes = 200;

/// Escapes line ends and tabs, which separate names and values.
std::string escape(std::string_view text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '\\':
      escaped += "\\\\";
      break;
    case '\n':
      escaped += "\\n";
      break;
    case '\t':
      escaped += "\\t";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    char next = text[++i];
    plain += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return plain;
}

/// Removes the text up to the next `separator` from `rest` and returns it.
std::optional<std::string_view> takeUntil(std::string_view &rest, char separator) {
  size_t end = rest.find(separator);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return taken;
}

/// A value for an error message: one line of printable characters, truncated.
std::string show(const std::string &value) {
  if (value.empty())
    return "nothing";
  std::string shown;
  for (char c : value.substr(0, kShownBytes))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return value.size() > kShownBytes ? shown + "..." : shown;
}

/// Ranks in words: "rank 3", "ranks 1, 2 and 5 others".
std::string showRanks(const std::vector<int> &ranks) {
  constexpr size_t most = 8;
  if (ranks.size() == 1)
    return fmt::format("rank {}", ranks[0]);
  std::vector<int> first(ranks.begin(), ranks.begin() + std::min(most, ranks.size()));
  std::string rest = ranks.size() > most ? fmt::format(" and {} others", ranks.size() - most) : "";
  return fmt::format("ranks {}{}", fmt::join(first, ", "), rest);
}

const std::string *find(const RankRecord &record, const std::string &name) {
  for (const RankRecord::Field &field : record.fields)
    if (field.name == name)
      return &field.value;
  return nullptr;
}

/// "NAME: A on rank 0, B on rank 1"; empty if all records have the same value.
std::string describeField(const std::string &name, const std::map<int, RankRecord> &records) {
  std::vector<std::pair<std::string, std::vector<int>>> groups; // in the order of their first ranks
  for (const auto &[rank, record] : records) {
    const std::string *value = find(record, name);
    std::string shown = value ? *value : "not known";
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto &other) { return other.first == shown; });
    if (group == groups.end())
      group = groups.insert(group, {shown, {}});
    group->second.push_back(rank);
  }
  if (groups.size() < 2)
    return "";
  std::string text = name + ":";
  for (const auto &[value, ranks] : groups)
    text += fmt::format("{} {} on {}", ranks == groups[0].second ? "" : ",", show(value),
                        showRanks(ranks));
  return text;
}

/// The names of all fields, in the order of their first occurrence.
std::vector<std::string> getFieldNames(const std::map<int, RankRecord> &records) {
  std::vector<std::string> names;
  for (const auto &[rank, record] : records)
    for (const RankRecord::Field &field : record.fields)
      if (std::find(names.begin(), names.end(), field.name) == names.end())
        names.push_back(field.name);
  return names;
}

/// The first rank that cannot start and its error; empty if all have the same error or none has
/// one.
std::string describeMistakes(const std::map<int, RankRecord> &records) {
  const std::string &first = records.begin()->second.mistake;
  if (std::all_of(records.begin(), records.end(),
                  [&](const auto &entry) { return entry.second.mistake == first; }))
    return "";
  for (const auto &[rank, record] : records)
    if (!record.mistake.empty())
      return fmt::format("rank {} cannot start: {}", rank, show(record.mistake));
  return "";
}

} // namespace

std::string encodeRecord(int rank, const RankRecord &record) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n", kHeader, rank, escape(record.process),
                                 escape(record.address), escape(record.mistake));
  for (const RankRecord::Field &field : record.fields)
    text += fmt::format("{}\t{}\n", escape(field.name), escape(field.value));
  return text;
}

std::optional<ReceivedRecord> decodeRecord(const std::string &text) {
  if (text.size() > kMaxBytes)
    return std::nullopt;
  std::string_view rest = text;
  auto header = takeUntil(rest, '\n'), rank = takeUntil(rest, '\n'),
       process = takeUntil(rest, '\n'), address = takeUntil(rest, '\n'),
       mistake = takeUntil(rest, '\n');
  if (header != kHeader || !mistake)
    return std::nullopt;
  ReceivedRecord received{0, {{}, unescape(*process), unescape(*address), unescape(*mistake)}};
  auto [end, error] = std::from_chars(rank->data(), rank->data() + rank->size(), received.rank);
  if (error != std::errc() || end != rank->data() + rank->size() || received.rank < 0)
    return std::nullopt;
  while (!rest.empty()) {
    auto line = takeUntil(rest, '\n');
    auto name = line ? takeUntil(*line, '\t') : std::nullopt;
    if (!name || received.record.fields.size() == kMaxFields)
      return std::nullopt;
    received.record.add(unescape(*name), unescape(*line));
  }
  return received;
}

std::string describeDifferences(const std::map<int, RankRecord> &records) {
  if (records.empty())
    return "";
  std::string mistakes = describeMistakes(records);
  if (!mistakes.empty() || !records.begin()->second.mistake.empty())
    return mistakes;
  std::vector<std::string> texts;
  for (const std::string &name : getFieldNames(records))
    if (std::string text = describeField(name, records); !text.empty())
      texts.push_back(std::move(text));
  if (texts.size() > kShownFields) {
    size_t more = texts.size() - kShownFields;
    texts.resize(kShownFields);
    texts.push_back(fmt::format("and {} more", more));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

} // namespace titan::rt
