#include "compiler/sema/interchange/ImportConfig.h"
#include "compiler/sema/interchange/ConfigDemands.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

class ConfigImport {
public:
  ConfigImport(const ConfigMap &map, ConfigDemands demands, const Library &library,
               DiagnosticEngine &diags)
      : map(map), given(std::move(demands)), library(library), diags(diags) {}

  std::optional<ImportedConfig> run() {
    const size_t errorsBefore = diags.errorReports();
    while (solveDemands() || assumeDefaults())
      ;
    if (diags.errorReports() == errorsBefore)
      reportMissing();
    if (diags.errorReports() == errorsBefore)
      checkOpenDemands();
    std::sort(given.withoutEffect.begin(), given.withoutEffect.end());
    return ImportedConfig{withoutDefaults(), given.length, std::move(given.withoutEffect)};
  }

private:
  Value evaluate(const Expr &expr, const NamedValues &names, const Unit &unit) const {
    return evaluateQuietly(expr, names, library, unit, diags.sourceManager());
  }

  void assign(const std::string &name, Value value, Location loc) {
    values[name] = value;
    found[name] = {std::move(value), loc};
  }

  std::set<std::string> unknownNames() const {
    std::set<std::string> names;
    for (const Formal &formal : map.formals())
      if (!values.count(formal.name.text))
        names.insert(formal.name.text);
    return names;
  }

  /// Solves each demand that has one unknown. Returns whether any was solved or checked.
  bool solveDemands() {
    const size_t demandsBefore = given.demands.size(), valuesBefore = values.size();
    std::erase_if(given.demands, [&](const ConfigDemand &demand) { return settle(demand); });
    return given.demands.size() != demandsBefore || values.size() != valuesBefore;
  }

  bool settle(const ConfigDemand &demand) {
    if (demand.line->entry->index)
      return settleElements(demand);
    Evaluate evaluateHere = [&](const Expr &expr, const NamedValues &names) {
      return evaluate(expr, names, *demand.line->unit);
    };
    Solution solution =
        solve(*demand.line->entry->value, demand.value, values, unknownNames(), evaluateHere);
    if (solution.kind == Solution::Kind::Solved && fitsDefault(solution, demand))
      assign(solution.name, solution.value, demand.loc);
    if (solution.kind == Solution::Kind::Fails)
      reportMismatch(demand);
    bool isSettled =
        solution.kind == Solution::Kind::Holds || solution.kind == Solution::Kind::Fails;
    return isSettled || (solution.kind == Solution::Kind::Solved && !isOpen(demand));
  }

  /// Whether an argument is of the kind of its default: a number, a boolean or a string. Reports
  /// another kind.
  bool fitsDefault(const Solution &solution, const ConfigDemand &demand) {
    NamedValues all = values;
    addDefaults(map.subject, all, library, diags.sourceManager());
    auto initial = all.find(solution.name);
    const Value &value = solution.value;
    if (initial == all.end() || initial->second.kind == Value::Kind::None ||
        initial->second.kind == value.kind || (initial->second.isNumber() && value.isNumber()))
      return true;
    diags
        .report(Code::BadConfigValue, demand.loc,
                "`" + demand.key + "` is " + demand.value.print() + ", but `" + solution.name +
                    "` of `" + modelName() + "` is " + initial->second.describe() +
                    ", by default " + initial->second.print())
        .note(demand.line->entry->loc, "declared here");
    values[solution.name] = initial->second;
    return false;
  }

  bool isOpen(const ConfigDemand &demand) const {
    std::vector<Name> names = map.arguments(*demand.line);
    return std::any_of(names.begin(), names.end(),
                       [&](const Name &name) { return !values.count(name.text); });
  }

  /// Compares a list element by element.
  bool settleElements(const ConfigDemand &demand) {
    if (isOpen(demand))
      return false;
    const ConfigEntry &entry = *demand.line->entry;
    Value count = evaluate(*entry.count, values, *demand.line->unit);
    if (demand.value.kind != Value::Kind::List || !count.isInt() ||
        std::ssize(demand.value.elements) != count.integer) {
      diags.report(Code::BadConfigValue, demand.loc,
                   "`" + demand.key + "` must be a list of " + count.print() + " elements");
      return true;
    }
    for (int64_t i = 0; i < count.integer; ++i) {
      NamedValues here = values;
      here[entry.index->text] = Value::ofInt(i);
      Value expected = evaluate(*entry.value, here, *demand.line->unit);
      const Value &actual = demand.value.elements[static_cast<size_t>(i)];
      if (expected == actual)
        continue;
      diags
          .report(Code::BadConfigValue, demand.loc,
                  "element " + std::to_string(i) + " of `" + demand.key + "` is " + actual.print() +
                      ", but that of `" + modelName() + "` is " + expected.print())
          .note(entry.loc, "declared here");
      break;
    }
    return true;
  }

  /// Whether the keys of an equation count in this configuration.
  bool isPresent(const ConfigLine &line) const {
    return given.objects[line.object] && !given.ignored.count(&line);
  }

  /// Gives their defaults to arguments that only absent objects would give. Called when no demand
  /// can be solved. Returns whether there were any.
  bool assumeDefaults() {
    std::set<std::string> read;
    for (const ConfigLine &line : map.equations)
      if (isPresent(line) && !map.readsLength(line))
        for (const Name &name : map.arguments(line))
          read.insert(name.text);
    NamedValues all = values;
    addDefaults(map.subject, all, library, diags.sourceManager());
    bool assumed = false;
    for (const auto &[name, value] : all)
      if (!values.count(name) && (!read.count(name) || onlyRead(name))) {
        values[name] = value;
        assumed = true;
      }
    return assumed;
  }

  /// Whether only absent objects have an equation `key = name`; those of present objects read the
  /// argument in larger expressions.
  bool onlyRead(const std::string &name) const {
    auto gives = [&](const ConfigLine &line, bool ofPresent) {
      auto *value = line.entry->value->as<NameExpr>();
      return isPresent(line) == ofPresent && value && value->path.text() == name;
    };
    auto any = [&](bool ofPresent) {
      return std::any_of(map.equations.begin(), map.equations.end(),
                         [&](const ConfigLine &line) { return gives(line, ofPresent); });
    };
    return any(false) && !any(true);
  }

  /// Demands that could not be solved hold with the defaults of their arguments, or are reported.
  void checkOpenDemands() {
    addDefaults(map.subject, values, library, diags.sourceManager());
    solveDemands();
    for (const ConfigDemand &demand : given.demands)
      reportMismatch(demand);
  }

  // Reports.

  std::string modelName() const { return getName(*map.model.decl).text; }

  std::string getText(const Expr &expr) const {
    return std::string(diags.sourceManager().text(expr.loc));
  }

  void reportMismatch(const ConfigDemand &demand) {
    const Expr &expr = *demand.line->entry->value;
    std::string has = "`" + demand.key + "` is " + demand.value.print() + ", but ";
    std::vector<Name> names = map.arguments(*demand.line);
    if (names.empty())
      has += "`" + modelName() + "` has " + getText(expr);
    else
      has += "`" + getText(expr) + "` of `" + modelName() + "` cannot be that";
    Diagnostic &diag = diags.report(Code::BadConfigValue, demand.loc, has);
    for (const Name &name : names)
      if (auto value = found.find(name.text); value != found.end())
        diag.note(value->second.loc, "`" + name.text + "` is " + value->second.value.print());
    diag.note(demand.line->entry->loc, "declared here");
    if (names.empty())
      diag.help("`" + modelName() +
                "` has no argument for this key; a model of yours with another "
                "value needs its own declaration: `titanc import --with FILE.titan`");
  }

  /// Reports missing keys of present objects, for arguments without a value.
  void reportMissing() {
    std::set<std::string> reported;
    for (const ConfigLine &line : map.equations) {
      if (!isPresent(line) || given.answered.count(&line) || map.readsLength(line))
        continue;
      for (const Name &name : map.arguments(line))
        if (!values.count(name.text) && reported.insert(name.text).second)
          diags
              .report(Code::ConfigKeyMissing, given.objects[line.object]->loc,
                      "there is no `" + given.prefixes[line.object] +
                          line.entry->keys.front().text() + "`, which gives argument `" +
                          name.text + "` of `" + modelName() + "`")
              .note(line.entry->loc, "declared here, without a default");
    }
  }

  // Results.

  std::vector<NamedArgument> withoutDefaults() const {
    NamedValues before;
    std::vector<NamedArgument> arguments;
    for (const Formal &formal : map.formals()) {
      const std::string &name = formal.name.text;
      NamedValues defaults = before;
      addDefaults(map.subject, defaults, library, diags.sourceManager());
      auto argument = found.find(name);
      auto value = defaults.find(name);
      bool isDefault = argument == found.end() ||
                       (value != defaults.end() && value->second == argument->second.value);
      if (!isDefault)
        arguments.emplace_back(name, argument->second);
      if (argument != found.end())
        before[name] = argument->second.value;
      else if (value != defaults.end())
        before[name] = value->second;
    }
    return arguments;
  }

  const ConfigMap &map;
  ConfigDemands given; ///< without demands that are solved or checked
  const Library &library;
  DiagnosticEngine &diags;
  NamedValues values;                    ///< of arguments, with assumed defaults
  std::map<std::string, Argument> found; ///< arguments that keys gave
};

} // namespace

std::optional<ImportedConfig> importConfig(const ConfigMap &map, const ConfigValue &config,
                                           const Library &library, DiagnosticEngine &diags) {
  const size_t errorsBefore = diags.errorReports();
  ConfigDemands demands = collectDemands(map, config, library, diags);
  std::optional<ImportedConfig> imported =
      ConfigImport(map, std::move(demands), library, diags).run();
  return diags.errorReports() == errorsBefore ? imported : std::nullopt;
}

} // namespace titan::sema
