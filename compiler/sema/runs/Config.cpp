#include "compiler/sema/runs/Config.h"

#include "base/settings/Toml.h"
#include "base/text/ReadNumber.h"

namespace titan::sema {

using namespace syntax;

namespace {

class ConfigReader {
public:
  ConfigReader(FileId file, SourceManager &sources, DiagnosticEngine &diags)
      : file(file), sources(sources), diags(diags) {}

  std::vector<Override> read() {
    TomlFile toml = readToml(sources.text(file));
    if (!toml.mistake.empty())
      diags.report(Code::BadConfig, locate(toml.mistakeLocation), toml.mistake);
    std::vector<Override> overrides;
    for (const TomlSetting &setting : toml.settings)
      overrides.push_back({buildSetting(setting), true});
    return overrides;
  }

private:
  Location locate(const TomlLocation &location) const {
    return sources.locate(file, location.offset, location.length);
  }

  Path makePath(const std::vector<TomlKey> &keys, size_t first, size_t end) const {
    Path path{{}, locate(keys[end - 1].location)};
    for (size_t i = first; i < end; ++i)
      path.segments.push_back({keys[i].text, locate(keys[i].location)});
    return path;
  }

  /// The number of keys before a pattern, as in `[optimizer.group."*norm"]`; 0: there is none.
  static size_t keysBeforePattern(const std::vector<TomlKey> &keys) {
    if (keys.size() > 2 && keys[0].text == "parameters")
      return 1;
    return keys.size() > 3 && keys[0].text == "optimizer" && keys[1].text == "group" ? 2 : 0;
  }

  Setting buildSetting(const TomlSetting &given) {
    const std::vector<TomlKey> &keys = given.path;
    size_t before = keysBeforePattern(keys);
    Setting setting;
    setting.path = makePath(keys, before ? before + 1 : 0, keys.size());
    setting.loc = setting.path.loc;
    bool isInitial = before == 1 && setting.path.text() == "init";
    setting.value = isInitial ? buildInitial(given.value) : buildValue(given.value);
    if (!before)
      return setting;
    Setting section; // with a pattern, around the setting
    section.path = makePath(keys, 0, before);
    section.label = Name{keys[before].text, locate(keys[before].location)};
    section.loc = setting.loc;
    if (setting.value) // null: it was reported
      section.block.emplace().push_back(std::move(setting));
    return section;
  }

  /// Reports underflow: the TOML parser reads a too small number as 0.
  void checkNumber(const TomlValue &value) const {
    std::string_view text = sources.text(locate(value.location));
    const auto fault = readNumber(text).fault;
    if (fault == NumberText::Fault::TooSmall || fault == NumberText::Fault::TooLarge)
      diags
          .report(Code::NumberTooLarge, locate(value.location),
                  "this number is beyond the range of float64")
          .help(whyNoNumber(text));
  }

  ExprPtr buildValue(const TomlValue &value) const {
    using Kind = TomlValue::Kind;
    auto made = [&]<typename Node>(std::unique_ptr<Node> node, auto &&content) -> ExprPtr {
      node->value = content;
      return node;
    };
    Location at = locate(value.location);
    switch (value.kind) {
    case Kind::Integer:
      return made(std::make_unique<IntExpr>(at), value.integer);
    case Kind::Number:
      checkNumber(value);
      return made(std::make_unique<FloatExpr>(at), value.number);
    case Kind::Truth:
      return made(std::make_unique<BoolExpr>(at), value.truth);
    case Kind::Text:
      return made(std::make_unique<StringExpr>(at), value.text);
    case Kind::List:
      break;
    }
    auto list = std::make_unique<ListExpr>(at);
    for (const TomlValue &element : value.elements)
      list->elements.push_back(buildValue(element));
    return list;
  }

  /// A distribution is an expression, `init = "normal(0.01)"`: parses it at its location.
  ExprPtr buildInitial(const TomlValue &value) {
    if (value.kind != TomlValue::Kind::Text)
      return buildValue(value);
    std::string text(sources.text(file).substr(0, value.location.offset + 1));
    for (char &c : text)
      c = c == '\n' ? c : ' ';
    return parseExpr(sources, sources.addBuffer(std::string(sources.name(file)), text + value.text),
                     diags);
  }

  FileId file;
  SourceManager &sources;
  DiagnosticEngine &diags;
};

} // namespace

std::vector<Override> readConfig(const std::string &path, SourceManager &sources,
                                 DiagnosticEngine &diags) {
  std::string reason;
  std::optional<FileId> file = sources.loadFile(path, reason);
  if (!file) {
    diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return {};
  }
  return ConfigReader(*file, sources, diags).read();
}

} // namespace titan::sema
