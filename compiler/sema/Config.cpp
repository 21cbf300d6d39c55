#include "compiler/sema/Config.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// A line that begins a table, and the path that it puts before the keys below it.
struct Table {
  uint32_t line;
  Path section;
  std::optional<Name> pattern;
  Location loc;
};

constexpr std::string_view blanks = " \t\r";

/// How many brackets a line leaves open, besides those in strings and comments.
int bracketsIn(std::string_view line) {
  int open = 0;
  bool inString = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && c == '#')
      break;
    else if (!inString)
      open += (c == '[') - (c == ']');
  }
  return open;
}

/// What stands between the brackets of `[optimizer.group."*norm"]`; nothing after a report.
std::optional<Table> readTable(std::string_view line, Location at, DiagnosticEngine &diags) {
  auto refuse = [&]() -> std::optional<Table> {
    diags.report(Code::BadConfig, at, "this begins no table of settings")
        .help("write `[optimizer]`, or with a pattern `[optimizer.group.\"*norm\"]`");
    return std::nullopt;
  };
  Table table{at.line, {{}, at}, {}, at};
  auto skipBlanks = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
  };
  std::string_view rest = skipBlanks(line.substr(1));
  while (true) {
    bool isQuoted = !rest.empty() && rest[0] == '"';
    size_t end = isQuoted ? rest.find('"', 1) : rest.find_first_of(".]\" \t#");
    if (end == std::string_view::npos || (end == 0) || table.pattern)
      return refuse();
    if (isQuoted)
      table.pattern = Name{std::string(rest.substr(1, end - 1)), at};
    else
      table.section.parts.push_back({std::string(rest.substr(0, end)), at});
    rest = skipBlanks(rest.substr(end + isQuoted));
    if (rest.empty() || rest[0] != '.')
      break;
    rest.remove_prefix(1);
  }
  size_t behind = rest.empty() || rest[0] != ']' ? 0 : rest.find_first_not_of(blanks, 1);
  bool ends = behind == std::string_view::npos || (behind != 0 && rest[behind] == '#');
  return ends && !table.section.parts.empty() ? std::optional(table) : refuse();
}

/// Takes the lines that begin tables out of the text: what is left are settings, each at its place.
std::vector<Table> takeTables(FileId file, std::string &text, const SourceManager &sources,
                              DiagnosticEngine &diags) {
  std::vector<Table> tables;
  int open = 0;
  size_t begin = 0;
  for (uint32_t number = 1; number <= sources.lineCount(file); ++number) {
    std::string_view line = sources.line(file, number);
    size_t end = std::min(text.find('\n', begin), text.size());
    size_t first = std::min(line.find_first_not_of(blanks), line.size());
    if (open <= 0 && first < line.size() && line[first] == '[') {
      Location at = sources.locate(file, begin + first, line.size() - first);
      if (std::optional<Table> table = readTable(line.substr(first), at, diags))
        tables.push_back(std::move(*table));
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    } else {
      open = std::max(0, open + bracketsIn(line));
    }
    begin = end + 1;
  }
  return tables;
}

} // namespace

std::vector<Override> readConfig(const std::string &path, SourceManager &sources,
                                 DiagnosticEngine &diags) {
  std::string reason;
  std::optional<FileId> file = sources.loadFile(path, reason);
  if (!file) {
    diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return {};
  }
  std::string text(sources.text(*file));
  std::vector<Table> tables = takeTables(*file, text, sources, diags);
  std::vector<Setting> settings =
      parseSettings(sources, sources.addBuffer(path, std::move(text)), diags);

  std::vector<Override> overrides;
  for (Setting &setting : settings) {
    auto next =
        std::upper_bound(tables.begin(), tables.end(), setting.loc.line,
                         [](uint32_t line, const Table &table) { return line < table.line; });
    Override made{{}, true};
    if (next == tables.begin()) {
      made.setting = std::move(setting);
    } else {
      const Table &table = *(next - 1);
      made.setting.path = table.section;
      made.setting.label = table.pattern;
      made.setting.loc = table.loc;
      made.setting.block.emplace().push_back(std::move(setting));
    }
    overrides.push_back(std::move(made));
  }
  return overrides;
}

} // namespace titan::sema
