#include "compiler/sema/runs/ParameterRules.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/SetsOnce.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/ElementTypes.h"
#include "compiler/sema/runs/AdapterRules.h"
#include "compiler/sema/runs/Choices.h"
#include "compiler/sema/runs/DeclaredOptions.h"
#include "compiler/sema/runs/EvalNames.h"
#include "compiler/sema/runs/Optimizers.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

using namespace syntax;

/// The option of `table` for an entry, or null after a report.
static const OptionSpec *findEntry(const Setting &entry, const std::vector<OptionSpec> &table,
                                   const char *what, DiagnosticEngine &diags) {
  const std::string name = entry.path.text();
  const OptionSpec *spec = findOption(table, name);
  if (spec && entry.value)
    return spec;
  std::vector<std::string> known = getNames(table);
  Diagnostic &diag = diags.report(Code::UnknownOption, entry.path.loc,
                                  std::string(what) + " no option `" + name + "`");
  diag.help("the options are " + listNames(known));
  if (std::string near = nearestName(name, known); !near.empty())
    diag.fix(entry.path.loc, near);
  return nullptr;
}

static bool checkLimit(size_t count, const char *what, Location at, DiagnosticEngine &diags) {
  constexpr size_t most = 1000;
  if (count >= most)
    diags.report(Code::TooLarge, at, "a run has at most " + std::to_string(most) + " " + what);
  return count < most;
}

/// The entries for a pattern, each option once. Reports an empty block, because it would have no
/// effect.
static std::vector<const Setting *>
getEntries(const Setting &setting, const std::vector<std::string> &known, DiagnosticEngine &diags) {
  std::vector<const Setting *> entries;
  std::map<std::string, Location> seen;
  if (setting.block)
    for (const Setting &entry : *setting.block) {
      if (setsOnce(seen, entry.path.text(), entry.path.loc, diags))
        entries.push_back(&entry);
    }
  if (entries.empty())
    diags
        .report(Code::OptionWithoutEffect, setting.label->loc,
                "no option is set for the parameters that match `" + setting.label->text + "`")
        .help("set one of " + listNames(known) + ", or remove the section");
  return entries;
}

namespace {

/// Reads one group.
struct GroupReader {
  const Library &library;
  const Unit &unit;
  const Run &run;
  DiagnosticEngine &diags;
  Group &group;

  /// Reads the optimizer first, because it determines the options.
  void read(const std::vector<const Setting *> &entries) {
    for (const Setting *entry : entries)
      if (isOptimizer(*entry))
        readOptimizer(*entry);
    for (const Setting *entry : entries)
      if (isSchedule(*entry))
        readSchedule(*entry);
      else if (!isOptimizer(*entry))
        readEntry(*entry);
  }

private:
  static bool isOptimizer(const Setting &entry) {
    return entry.path.text() == "optimizer" && entry.value;
  }

  static bool isSchedule(const Setting &entry) {
    return entry.path.text() == "schedule" && entry.value;
  }

  void readSchedule(const Setting &entry) {
    std::optional<Path> path = chosenName(*entry.value);
    if (!path)
      return reportNoName(scheduleChoice, *entry.value, diags);
    GroupSchedule schedule{findChoice(scheduleChoice, *path, unit, run, library, diags), {}, {}};
    if (!schedule.symbol)
      return;
    schedule.options = readOptionSpecs(schedule.symbol, library, diags);
    for (const OptionSpec &spec : schedule.options)
      schedule.values[spec.path] = spec.initial;
    if (entry.block)
      for (const Setting &inner : *entry.block)
        readScheduleOption(inner, schedule);
    group.schedule = std::move(schedule);
  }

  void readScheduleOption(const Setting &entry, GroupSchedule &schedule) {
    const OptionSpec *spec = findEntry(entry, schedule.options, "the schedule has", diags);
    if (!spec)
      return;
    Value value = spec->type == OptionType::Choice ? evalNames(*entry.value, evaluator())
                                                   : evaluator()(*entry.value);
    value = checkOption(*spec, value, entry.value->loc, diags);
    if (!value.isError())
      schedule.values[spec->path] = value;
  }

  std::function<Value(const Expr &)> evaluator() const {
    return [this](const Expr &expr) { return evalConstant(expr, library, unit, diags); };
  }

  void readOptimizer(const Setting &entry) {
    if (std::optional<Path> path = chosenName(*entry.value))
      group.optimizer = findChoice(optimizerChoice, *path, unit, run, library, diags);
    else
      reportNoName(optimizerChoice, *entry.value, diags);
    if (!group.optimizer)
      return;
    group.optimizerOptions = readOptionSpecs(group.optimizer, library, diags);
    if (entry.block)
      for (const Setting &inner : *entry.block)
        readEntry(inner);
  }

  void readEntry(const Setting &entry) {
    const std::string name = entry.path.text();
    std::optional<OptionSpec> spec = findGroupOption(run, group, name);
    if (!spec || !entry.value)
      return reportUnknown(entry, name);
    Value value = spec->type == OptionType::Words ? evalNames(*entry.value, evaluator())
                                                  : evaluator()(*entry.value);
    value = checkOption(*spec, value, entry.value->loc, diags);
    if (!value.isError())
      group.values[name] = {value, entry.value->loc, entry.path.loc};
  }

  void reportUnknown(const Setting &entry, const std::string &name) {
    std::vector<std::string> known = groupOptionNames(run, group);
    Diagnostic &diag =
        diags.report(Code::UnknownOption, entry.path.loc, "a group has no option `" + name + "`");
    suggestName(diag, entry.path.loc, name, known, "the options are ");
  }
};

} // namespace

void readGroup(const Setting &setting, const Library &library, const Unit &unit, Run &run,
               DiagnosticEngine &diags) {
  if (!checkLimit(run.groups.size(), "groups", setting.loc, diags))
    return;
  Group group{setting.label->text, {}, setting.label->loc, run.layer};
  GroupReader{library, unit, run, diags, group}.read(
      getEntries(setting, groupOptionNames(run, group), diags));
  run.groups.push_back(std::move(group));
}

void readRule(const Setting &setting, const Library &library, const Unit &unit, Run &run,
              DiagnosticEngine &diags) {
  if (!checkLimit(run.rules.size(), "rules for parameters", setting.loc, diags))
    return;
  ParameterRule rule{setting.label->text, {}, {}, {}, {}, {}, setting.label->loc, run.layer};
  for (const Setting *entry : getEntries(setting, getNames(ruleOptions()), diags)) {
    const OptionSpec *spec = findEntry(*entry, ruleOptions(), "parameters have", diags);
    if (!spec)
      continue;
    if (spec->type == OptionType::Initialiser) {
      rule.init = evalInitialiser(*entry->value, library, unit, diags);
      continue;
    }
    if (spec->type == OptionType::Adapter) {
      if (Value adapter = readAdapter(*entry->value, library, unit, diags); !adapter.isError())
        rule.adapter = std::move(adapter);
      continue;
    }
    auto *word = entry->value->as<NameExpr>();
    Value value = spec->type == OptionType::Choice && word
                      ? Value::ofWord(word->path.text())
                      : evalConstant(*entry->value, library, unit, diags);
    value = checkOption(*spec, value, entry->value->loc, diags);
    if (value.isError())
      continue;
    if (spec->type == OptionType::Bool)
      (spec->path == "frozen" ? rule.frozen : rule.isExported) = value.boolean();
    else
      rule.initFrom = value.text;
  }
  run.rules.push_back(std::move(rule));
}

/// Reports a pattern without matching parameters.
static void reportUnmatched(const std::string &pattern, Location at, const Model &model,
                            DiagnosticEngine &diags) {
  std::vector<std::string> names;
  for (const Parameter &parameter : model.parameters)
    if (!parameter.isBuffer)
      names.push_back(parameter.name);
  Diagnostic &diag =
      diags.report(Code::UnknownGroupPattern, at, "no parameter's name matches `" + pattern + "`");
  if (std::string wider = widerPattern(pattern, names); !wider.empty())
    diag.help("`" + wider +
              "` matches; a name begins with the repeats and named calls around it, "
              "without iterations: `layers.wq`");
  else if (std::string near = nearestName(pattern, names); !near.empty())
    diag.help("the nearest name is `" + near + "`");
}

const Value *groupValue(const Run &run, const std::string &name, const Parameter &parameter) {
  const Value *last = nullptr;
  for (const Group &group : run.groups)
    if (auto value = group.values.find(name);
        value != group.values.end() && matchesGlob(group.pattern, parameter.name))
      last = &value->second.value;
  return last;
}

/// Reports a copy whose original the model lacks: the parameter without the first part of its name.
static void checkOriginal(const ParameterRule &rule, const Parameter &copy, const Model &model,
                          DiagnosticEngine &diags) {
  const std::string name = copy.getOriginalName();
  auto original = std::find_if(model.parameters.begin(), model.parameters.end(),
                               [&](const Parameter &each) { return each.name == name; });
  const bool isLike =
      original != model.parameters.end() && original->type.dtype == copy.type.dtype &&
      original->iterations == copy.iterations &&
      std::equal(original->type.dims.begin(), original->type.dims.end(), copy.type.dims.begin(),
                 copy.type.dims.end(),
                 [&](DimId a, DimId b) { return model.dims[a].size == model.dims[b].size; });
  if (isLike)
    return;
  Diagnostic &diag = diags.report(Code::OptionValue, rule.loc,
                                  "`" + copy.name + "` cannot start as a copy: " +
                                      (name.empty() ? "its name has only one part"
                                       : original == model.parameters.end()
                                           ? "the model has no parameter `" + name + "`"
                                           : "`" + name + "` has another shape or element type"));
  diag.note(copy.loc, "declared here");
  diag.help(
      "a parameter of a named call starts as the one without this name: `reference.w` as `w`");
}

void applyRules(const Run &run, Model &model, DiagnosticEngine &diags) {
  for (size_t i = 0; i < run.rules.size(); ++i) {
    const ParameterRule &rule = run.rules[i];
    bool matched = false;
    for (Parameter &parameter : model.parameters) {
      const bool hasEffect = (rule.init || !parameter.isBuffer) && i >= parameter.firstRule;
      if (!hasEffect || !matchesGlob(rule.pattern, parameter.name))
        continue;
      matched = true;
      if (rule.init && !canInitialise(parameter.type.dtype, *rule.init))
        diags
            .report(Code::BadInitialValue, rule.loc,
                    "`" + parameter.name + "` is int and starts as an integer")
            .note(parameter.loc, "declared here");
      if (rule.init)
        parameter.initialisers = {*rule.init};
      parameter.frozen = rule.frozen.value_or(parameter.frozen);
      parameter.initFrom = rule.initFrom.value_or(parameter.initFrom);
      parameter.isExported = rule.isExported.value_or(parameter.isExported);
      if (rule.initFrom == "copy")
        checkOriginal(rule, parameter, model, diags);
    }
    if (!matched)
      reportUnmatched(rule.pattern, rule.loc, model, diags);
  }
}

void checkGroups(const Run &run, const Model &model, DiagnosticEngine &diags) {
  for (const Group &group : run.groups) {
    bool matched = false;
    for (const Parameter &parameter : model.parameters)
      matched |= !parameter.isBuffer && matchesGlob(group.pattern, parameter.name);
    if (!matched)
      reportUnmatched(group.pattern, group.loc, model, diags);
  }
}

} // namespace titan::sema
