// The checks of a `config` declaration that need no configuration.
#include "compiler/sema/interchange/ConfigMap.h"
#include "compiler/sema/interchange/Names.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <set>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

class ConfigChecker {
public:
  ConfigChecker(const ConfigMap &map, DiagnosticEngine &diags) : map(map), diags(diags) {}

  void check() {
    for (const ConfigLine &line : map.equations) {
      declareKeys(line);
      checkArguments(line);
    }
    checkTraining();
    for (const ConfigLine &line : map.ignored)
      // With a condition, its keys also have equations. In the whole configuration of a part, they
      // are repeated.
      if (!line.entry->absentKey && !(map.hasObject() && line.object == 0))
        declareKeys(line);
    for (const ConfigLine &line : map.equations)
      if (line.entry->fallback)
        checkDefault(line);
    checkSolvable();
  }

private:
  static std::vector<std::string> getNames(const std::vector<Formal> &formals) {
    std::vector<std::string> names;
    for (const Formal &formal : formals)
      names.push_back(formal.name.text);
    return names;
  }

  void declareKeys(const ConfigLine &line) {
    for (const Path &key : line.entry->keys) {
      auto [first, fresh] = keys.try_emplace({line.object, key.text()}, key.loc);
      if (!fresh)
        diags.report(Code::Redeclared, key.loc, "key `" + key.text() + "` is declared twice")
            .note(first->second, "the first declaration is here");
    }
  }

  void checkArguments(const ConfigLine &line) {
    std::vector<Name> names = namesIn(*line.entry->value);
    if (line.entry->count)
      for (const Name &name : namesIn(*line.entry->count))
        names.push_back(name);
    std::vector<std::string> arguments = getNames(map.formals());
    for (const Name &name : names) {
      bool isIndex = line.entry->index && line.entry->index->text == name.text;
      if (isIndex || name.text == map.lengthName ||
          std::count(arguments.begin(), arguments.end(), name.text) ||
          !unknown.insert(name.text).second)
        continue;
      reportUnknown(line, name, arguments);
    }
  }

  /// Checks the arguments after `training`. Sections are skipped, because they list arguments of
  /// several models.
  void checkTraining() {
    const std::vector<std::string> arguments = getNames(map.formals());
    for (const ConfigEntry &entry : map.decl.decl->as<ConfigDecl>()->entries)
      if (entry.kind == ConfigEntry::Kind::Training)
        for (const Path &path : entry.keys)
          if (!std::count(arguments.begin(), arguments.end(), path.text()))
            reportUnknown(Name{path.text(), path.loc}, arguments);
  }

  void reportUnknown(const Name &name, const std::vector<std::string> &arguments) {
    Diagnostic &diag = diags.report(Code::UnknownModelArgument, name.loc,
                                    "model `" + getName(*map.model.decl).text +
                                        "` has no argument `" + name.text + "`");
    suggestName(diag, name.loc, name.text, arguments, "its arguments are ");
  }

  /// Sections belong to other models, too, so the error is where this model uses them.
  void reportUnknown(const ConfigLine &line, const Name &name,
                     const std::vector<std::string> &arguments) {
    if (line.unit == map.decl.unit)
      return reportUnknown(name, arguments);
    diags
        .report(Code::UnknownModelArgument, map.decl.decl->as<ConfigDecl>()->model->loc,
                "model `" + getName(*map.model.decl).text + "` has no argument `" + name.text +
                    "`, which its configuration needs")
        .note(name.loc, "a key is computed from the argument here")
        .note(getName(*map.model.decl).loc, "the model is declared here");
  }

  /// Checks that a default reads keys of the same object, or of one around it.
  void checkDefault(const ConfigLine &line) {
    for (const Name &name : namesIn(*line.entry->fallback)) {
      bool found = false;
      for (const auto &[key, loc] : keys)
        found |= key.second == name.text && map.isWithin(line.object, key.first);
      if (found)
        continue;
      Diagnostic &diag =
          diags.report(Code::UnknownName, name.loc, "no equation has the key `" + name.text + "`");
      std::vector<std::string> known;
      for (const auto &[key, loc] : keys)
        known.push_back(key.second);
      suggestName(diag, name.loc, name.text, known);
      if (diag.remedy.empty() && !diag.fixIt)
        diag.help("a default is computed from other keys of the configuration");
    }
  }

  /// Solves without values, to find arguments that no equation gives. In each round, equations give
  /// their only argument that is still unknown.
  void checkSolvable() {
    std::set<std::string> unsolved;
    for (const ConfigLine &line : map.equations)
      for (const Name &name : map.arguments(line))
        unsolved.insert(name.text);
    const std::set<std::string> read = unsolved;
    for (bool changed = true; std::exchange(changed, false);)
      for (const ConfigLine &line : map.equations)
        if (!line.entry->index && !map.readsLength(line))
          if (std::optional<std::string> name = solvedName(*line.entry->value, unsolved))
            changed |= unsolved.erase(*name) != 0;
    for (const ConfigLine &line : map.equations)
      for (const Name &name : map.arguments(line))
        if (unsolved.erase(name.text))
          diags
              .report(Code::UnsolvableConfig, name.loc,
                      "no equation can be solved for `" + name.text + "`")
              .help("an equation gives one argument: `key = " + name.text +
                    "`, or with others that further equations give");
    if (!unknown.empty()) // a misspelt argument would be reported again as one that nothing gives
      return;
    for (const Formal &formal : map.formals())
      if (!formal.defaultValue && !read.count(formal.name.text) &&
          !map.subject.arguments.count(formal.name.text))
        diags
            .report(Code::UnsolvableConfig, getName(*map.decl.decl).loc,
                    "no key gives argument `" + formal.name.text + "` of `" +
                        getName(*map.model.decl).text + "`")
            .note(formal.name.loc, "declared here, without a default");
  }

  const ConfigMap &map;
  DiagnosticEngine &diags;
  std::map<std::pair<size_t, std::string>, Location> keys; ///< by object
  std::set<std::string> unknown;                           ///< names that are no arguments
};

} // namespace

void checkConfig(const ConfigMap &map, DiagnosticEngine &diags) {
  ConfigChecker(map, diags).check();
}

} // namespace titan::sema
