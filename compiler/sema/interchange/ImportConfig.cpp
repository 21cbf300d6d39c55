#include "compiler/sema/interchange/ImportConfig.h"
#include "compiler/sema/interchange/Names.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr const char *architectures = "architectures";

/// What one line of the declaration demands of one value.
struct Demand {
  const ConfigLine *line;
  Value value;
  std::string key; ///< with its objects, as messages show it
  Location loc;    ///< in the configuration
};

class ConfigImport {
public:
  ConfigImport(const ConfigMap &map, const ConfigValue &config, const Library &library,
               DiagnosticEngine &diags)
      : map(map), config(config), library(library), diags(diags) {}

  std::optional<ImportedConfig> run() {
    const size_t errorsBefore = diags.errorReports();
    findObjects();
    for (const ConfigLine &line : map.equations)
      collect(line);
    while (solveDemands() || assumeDefaults())
      ;
    if (diags.errorReports() == errorsBefore)
      reportMissing();
    markIgnored();
    reportUnknown(config, "");
    if (diags.errorReports() != errorsBefore)
      return std::nullopt;
    return ImportedConfig{withoutDefaults(), length};
  }

private:
  // Objects and keys.

  /// An object exists if one of its keys has one, unless `unless` holds.
  void findObjects() {
    objects.push_back(&config);
    prefixes.emplace_back();
    for (size_t i = 1; i < map.objects.size(); ++i) {
      const auto &[entry, outer] = map.objects[i];
      objects.push_back(nullptr);
      prefixes.emplace_back();
      for (const Path &key : entry->keys)
        if (!objects[i] && objects[outer])
          findObject(i, *entry, key, outer);
    }
  }

  void findObject(size_t object, const ConfigEntry &entry, const Path &key, size_t outer) {
    const ConfigValue *member = findMember(*objects[outer], key);
    if (!member)
      return;
    understood.insert(member);
    const std::string name = prefixes[outer] + key.text();
    if (!member->isObject && !member->isNull())
      diags.report(Code::BadConfigValue, member->loc,
                   "`" + name + "` must be an object, not " + member->value.print());
    if (!member->isObject || isAbsent(entry, *member))
      return;
    objects[object] = member;
    prefixes[object] = name + ".";
  }

  bool isAbsent(const ConfigEntry &entry, const ConfigValue &object) {
    const ConfigValue *member = entry.absentKey ? findMember(object, *entry.absentKey) : nullptr;
    if (!member || !(member->value == evaluate(*entry.absentValue, {}, *map.decl.unit)))
      return false;
    understood.insert(member);
    return true;
  }

  Value evaluate(const Expr &expr, const NamedValues &names, const Unit &unit) const {
    return evaluateQuietly(expr, names, library, unit, diags.sourceManager());
  }

  /// Each present key of an equation demands its value; if there is none, the default does. `null`
  /// means the default; without one it is the value `none`.
  void collect(const ConfigLine &line) {
    const ConfigValue *object = objects[line.object];
    if (!object)
      return;
    size_t before = demands.size();
    for (const Path &key : line.entry->keys) {
      const ConfigValue *member = findMember(*object, key);
      if (member)
        understood.insert(member);
      if (member && map.readsLength(line))
        takeLength(member->value);
      else if (member && !(member->isNull() && line.entry->fallback))
        demand(line, *member, prefixes[line.object] + key.text());
    }
    if (demands.size() != before)
      demanded.insert(&line);
    if (demands.size() != before || !line.entry->fallback || map.readsLength(line))
      return;
    demanded.insert(&line); // what its default lacks is missing itself
    const std::string key = prefixes[line.object] + line.entry->keys.front().text();
    std::optional<Value> value = defaultOf(line, 0);
    if (value && value->isError())
      diags.report(Code::BadConfigValue, config.loc,
                   "there is no `" + key + "`, and its default `" + textOf(*line.entry->fallback) +
                       "` has no value here");
    else if (value)
      demands.push_back({&line, std::move(*value), key, config.loc});
  }

  void takeLength(const Value &value) {
    if (value.isInt() && value.integer > 0)
      length = value.integer;
  }

  void demand(const ConfigLine &line, const ConfigValue &member, const std::string &key) {
    if (member.isObject || member.value.isError())
      diags.report(Code::BadConfigValue, member.loc,
                   "`" + key + "` must be a value, not " +
                       (member.isObject ? "an object" : "a list of objects"));
    else
      demands.push_back({&line, member.value, key, member.loc});
  }

  /// The value after `default`, computed from keys. Nothing if one of them is absent and has no
  /// default of its own: then it is missing, which is reported for it.
  std::optional<Value> defaultOf(const ConfigLine &line, unsigned depth) {
    constexpr unsigned deepest = 16; // of defaults that read one another
    NamedValues values;
    for (const Name &name : namesIn(*line.entry->fallback)) {
      std::optional<Value> value =
          depth < deepest ? valueOf(name.text, line.object, depth) : std::nullopt;
      if (!value)
        return std::nullopt;
      values[name.text] = std::move(*value);
    }
    return evaluate(*line.entry->fallback, values, *line.unit);
  }

  /// The value of a key in an object or in one around it.
  std::optional<Value> valueOf(const std::string &key, size_t object, unsigned depth) {
    for (const ConfigLine &line : map.equations) {
      auto isMeant = [&](const Path &path) { return path.text() == key; };
      const std::vector<Path> &keys = line.entry->keys;
      if (!map.isWithin(object, line.object) || std::none_of(keys.begin(), keys.end(), isMeant))
        continue;
      for (const Path &path : keys)
        if (const ConfigValue *member = findMember(*objects[line.object], path);
            member && !member->isNull())
          return member->value;
      return line.entry->fallback ? defaultOf(line, depth + 1) : std::nullopt;
    }
    return std::nullopt;
  }

  // Equations.

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
    const size_t demandsBefore = demands.size(), valuesBefore = values.size();
    std::erase_if(demands, [&](const Demand &demand) { return settle(demand); });
    return demands.size() != demandsBefore || values.size() != valuesBefore;
  }

  bool settle(const Demand &demand) {
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
  bool fitsDefault(const Solution &solution, const Demand &demand) {
    NamedValues all = values;
    addDefaults(map.subject, all, library, diags.sourceManager());
    auto usual = all.find(solution.name);
    const Value &value = solution.value;
    if (usual == all.end() || usual->second.kind == Value::Kind::None ||
        usual->second.kind == value.kind || (usual->second.isNumber() && value.isNumber()))
      return true;
    diags
        .report(Code::BadConfigValue, demand.loc,
                "`" + demand.key + "` is " + demand.value.print() + ", but `" + solution.name +
                    "` of `" + modelName() + "` is " + usual->second.describe() + ", by default " +
                    usual->second.print())
        .note(demand.line->entry->loc, "declared here");
    values[solution.name] = usual->second;
    return false;
  }

  bool isOpen(const Demand &demand) const {
    std::vector<Name> names = map.arguments(*demand.line);
    return std::any_of(names.begin(), names.end(),
                       [&](const Name &name) { return !values.count(name.text); });
  }

  /// Compares a list element by element.
  bool settleElements(const Demand &demand) {
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
      Value wanted = evaluate(*entry.value, here, *demand.line->unit);
      const Value &is = demand.value.elements[static_cast<size_t>(i)];
      if (wanted == is)
        continue;
      diags
          .report(Code::BadConfigValue, demand.loc,
                  "element " + std::to_string(i) + " of `" + demand.key + "` is " + is.print() +
                      ", but that of `" + modelName() + "` is " + wanted.print())
          .note(entry.loc, "declared here");
      break;
    }
    return true;
  }

  /// Where nothing else can be solved: arguments that only absent objects would give have their
  /// defaults.
  bool assumeDefaults() {
    std::set<std::string> given;
    for (const ConfigLine &line : map.equations)
      if (objects[line.object] && !map.readsLength(line))
        for (const Name &name : map.arguments(line))
          given.insert(name.text);
    NamedValues all = values;
    addDefaults(map.subject, all, library, diags.sourceManager());
    bool assumed = false;
    for (const auto &[name, value] : all)
      if (!values.count(name) && (!given.count(name) || onlyRead(name))) {
        values[name] = value;
        assumed = true;
      }
    return assumed;
  }

  /// Whether an absent object has the equation for an argument, and others only read it.
  bool onlyRead(const std::string &name) const {
    auto gives = [&](const ConfigLine &line, bool isPresent) {
      auto *value = line.entry->value->as<NameExpr>();
      return !!objects[line.object] == isPresent && value && value->path.text() == name;
    };
    auto any = [&](bool isPresent) {
      return std::any_of(map.equations.begin(), map.equations.end(),
                         [&](const ConfigLine &line) { return gives(line, isPresent); });
    };
    return any(false) && !any(true);
  }

  // Reports.

  std::string modelName() const { return nameOf(*map.model.decl).text; }

  std::string textOf(const Expr &expr) const {
    return std::string(diags.sourceManager().text(expr.loc));
  }

  void reportMismatch(const Demand &demand) {
    const Expr &expr = *demand.line->entry->value;
    std::string has = "`" + demand.key + "` is " + demand.value.print() + ", but ";
    std::vector<Name> names = map.arguments(*demand.line);
    if (names.empty())
      has += "`" + modelName() + "` has " + textOf(expr);
    else
      has += "`" + textOf(expr) + "` of `" + modelName() + "` cannot be that";
    Diagnostic &diag = diags.report(Code::BadConfigValue, demand.loc, has);
    for (const Name &name : names)
      if (auto value = found.find(name.text); value != found.end())
        diag.note(value->second.loc, "`" + name.text + "` is " + value->second.value.print());
    diag.note(demand.line->entry->loc, "declared here");
  }

  /// Arguments that equations of present objects read, and no key gave, where a key is missing.
  void reportMissing() {
    std::set<std::string> reported;
    for (const ConfigLine &line : map.equations) {
      if (!objects[line.object] || demanded.count(&line) || map.readsLength(line))
        continue;
      for (const Name &name : map.arguments(line))
        if (!values.count(name.text) && reported.insert(name.text).second)
          diags
              .report(Code::ConfigKeyMissing, objects[line.object]->loc,
                      "there is no `" + prefixes[line.object] + line.entry->keys.front().text() +
                          "`, which gives argument `" + name.text + "` of `" + modelName() + "`")
              .note(line.entry->loc, "declared here, without a default");
    }
  }

  void markIgnored() {
    for (const ConfigLine &line : map.ignored)
      if (const ConfigValue *object = objects[line.object])
        for (const Path &key : line.entry->keys)
          if (const ConfigValue *member = findMember(*object, key))
            ignored.insert(member);
  }

  bool isUnderstood(const ConfigValue &value) const {
    if (understood.count(&value) || ignored.count(&value))
      return true;
    return std::any_of(value.members.begin(), value.members.end(),
                       [&](const auto &member) { return isUnderstood(member.second); });
  }

  void reportUnknown(const ConfigValue &object, const std::string &prefix) {
    for (const auto &[key, member] : object.members) {
      if (ignored.count(&member) || (&object == &config && key == architectures))
        continue;
      if (!isUnderstood(member))
        diags
            .report(Code::UnknownConfigKey, member.loc,
                    "`" + prefix + key + "` is unknown, and may change the model")
            .note(nameOf(*map.decl.decl).loc, "no line of this declaration is about the key")
            .help("if the key does not matter, add `ignore " + prefix + key +
                  "` to a copy of the declaration, and name its file by `--with`");
      else if (member.isObject)
        reportUnknown(member, prefix + key + ".");
    }
  }

  // Results.

  std::vector<NamedArgument> withoutDefaults() const {
    NamedValues before;
    std::vector<NamedArgument> arguments;
    for (const Formal &formal : map.formals()) {
      const std::string &name = formal.name.text;
      NamedValues usual = before;
      addDefaults(map.subject, usual, library, diags.sourceManager());
      auto argument = found.find(name);
      auto value = usual.find(name);
      bool isUsual = argument == found.end() ||
                     (value != usual.end() && value->second == argument->second.value);
      if (!isUsual)
        arguments.emplace_back(name, argument->second);
      if (argument != found.end())
        before[name] = argument->second.value;
      else if (value != usual.end())
        before[name] = value->second;
    }
    return arguments;
  }

  const ConfigMap &map;
  const ConfigValue &config;
  const Library &library;
  DiagnosticEngine &diags;
  std::vector<const ConfigValue *> objects; ///< those of the map; null where absent
  std::vector<std::string> prefixes;        ///< of their keys, in messages
  std::vector<Demand> demands;              ///< those not settled yet
  std::set<const ConfigLine *> demanded;
  NamedValues values;                    ///< of arguments, with assumed defaults
  std::map<std::string, Argument> found; ///< without them
  std::set<const ConfigValue *> understood, ignored;
  std::optional<int64_t> length;
};

} // namespace

std::optional<ImportedConfig> importConfig(const ConfigMap &map, const ConfigValue &config,
                                           const Library &library, DiagnosticEngine &diags) {
  return ConfigImport(map, config, library, diags).run();
}

std::string architectureOf(const ConfigValue &config, DiagnosticEngine &diags) {
  auto member = config.members.find(architectures);
  if (member == config.members.end()) {
    diags.report(Code::ConfigKeyMissing, config.loc, "there is no `architectures`")
        .help("it names the model: `\"architectures\": [\"LlamaForCausalLM\"]`");
    return "";
  }
  const Value &value = member->second.value;
  if (value.kind == Value::Kind::List && !value.elements.empty() &&
      value.elements[0].kind == Value::Kind::String)
    return value.elements[0].text;
  diags.report(Code::BadConfigValue, member->second.loc, "`architectures` must be a list of names");
  return "";
}

} // namespace titan::sema
