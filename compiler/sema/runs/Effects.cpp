#include "compiler/sema/runs/Effects.h"
#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/modules/CountNames.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/Optimizers.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

/// Why a setting does not reach a parameter.
struct Obstacle {
  Location later = {}; ///< of a later setting of the same declaration; invalid: it is frozen
};

/// The settings of groups.
class GroupEffects {
public:
  GroupEffects(const Run &run, const Model &model, DiagnosticEngine &diags)
      : run(run), model(model), diags(diags) {}

  void check() {
    for (size_t i = 0; i < run.groups.size(); ++i) {
      const Group &group = run.groups[i];
      for (const auto &[name, option] : group.values)
        if (!checkReached(i, name, option.nameLoc))
          checkNeeds(group, name, option);
      if (group.optimizer)
        checkReached(i, "optimizer", group.loc);
      if (group.schedule)
        checkReached(i, "schedule", group.loc);
    }
  }

private:
  /// Whether the group sets `name`. Another optimizer brings its own options.
  static bool sets(const Group &group, const std::string &name) {
    if (name == "schedule")
      return group.schedule.has_value();
    const bool isOfOptimizer = !findOption(groupOptions(), name);
    return group.values.count(name) || (isOfOptimizer && group.optimizer);
  }

  /// The declaration that freezes a parameter: the first one stands for the model.
  unsigned getFreezingLayer(const Parameter &parameter) const {
    unsigned layer = 0;
    for (const ParameterRule &rule : run.rules)
      if (rule.frozen && matchesGlob(rule.pattern, parameter.name))
        layer = rule.layer;
    return layer;
  }

  std::optional<Obstacle> findObstacle(size_t index, const std::string &name,
                                       const Parameter &parameter) const {
    const Group &group = run.groups[index];
    for (size_t i = index + 1; i < run.groups.size(); ++i) {
      const Group &later = run.groups[i];
      if (later.layer == group.layer && sets(later, name) &&
          matchesGlob(later.pattern, parameter.name))
        return Obstacle{later.loc};
    }
    const bool isFrozen = parameter.frozen && getFreezingLayer(parameter) <= group.layer;
    return isFrozen ? std::optional(Obstacle{}) : std::nullopt;
  }

  /// Returns true after a report.
  bool checkReached(size_t index, const std::string &name, Location at) {
    const Group &group = run.groups[index];
    std::optional<Obstacle> found;
    for (const Parameter &parameter : model.parameters) {
      if (parameter.isBuffer || !matchesGlob(group.pattern, parameter.name))
        continue;
      found = findObstacle(index, name, parameter);
      if (!found)
        return false;
    }
    if (!found)
      return false; // no parameter matches, as reported
    report(group, name, at, *found);
    return true;
  }

  void report(const Group &group, const std::string &name, Location at, const Obstacle &obstacle) {
    const bool isFrozen = !obstacle.later.isValid();
    Diagnostic &diag =
        diags.report(Code::OptionWithoutEffect, at,
                     "`" + name + "` of group `" + group.pattern + "` has no effect: " +
                         (isFrozen ? "all its parameters are frozen"
                                   : "later groups set it for all its parameters"));
    if (isFrozen)
      return;
    diag.note(obstacle.later, "this is a later group")
        .help("the last group that matches a parameter decides: write wider patterns first");
  }

  /// `nesterov` without `momentum`.
  void checkNeeds(const Group &group, const std::string &name, const Option &option) {
    const std::optional<OptionSpec> spec = findGroupOption(run, group, name);
    if (!spec || spec->idleValue.empty() ||
        (spec->type == OptionType::Bool && option.value == spec->initial))
      return;
    const std::string path = spec->needs.substr(0, spec->needs.find('='));
    const std::string needed = path.substr(path.rfind('.') + 1);
    for (const Parameter &parameter : model.parameters) {
      if (parameter.isBuffer || !matchesGlob(group.pattern, parameter.name))
        continue;
      const Optimizer optimizer = getOptimizer(run, parameter);
      auto other = optimizer.options.find(needed);
      if (other == optimizer.options.end() || other->second.print() != spec->idleValue)
        return;
    }
    diags
        .report(Code::OptionWithoutEffect, option.nameLoc,
                "`" + name + "` has no effect while `" + needed + "` is " + spec->idleValue)
        .help("give `" + needed + "` another value, or leave `" + name + "` out");
  }

  const Run &run;
  const Model &model;
  DiagnosticEngine &diags;
};

/// Reports rules whose options later rules of the same declaration replace.
class RuleEffects {
public:
  RuleEffects(const Run &run, const Model &model, DiagnosticEngine &diags)
      : run(run), model(model), diags(diags) {}

  void check() {
    checkOption("init", [](const ParameterRule &rule) { return rule.init.has_value(); });
    checkOption("frozen", [](const ParameterRule &rule) { return rule.frozen.has_value(); });
    checkOption("init_from", [](const ParameterRule &rule) { return rule.initFrom.has_value(); });
    checkOption("export", [](const ParameterRule &rule) { return rule.isExported.has_value(); });
    checkOption("adapter", [](const ParameterRule &rule) { return rule.adapter.has_value(); });
  }

private:
  using Sets = bool (*)(const ParameterRule &);

  void checkOption(const char *name, Sets sets) {
    for (size_t i = 0; i < run.rules.size(); ++i) {
      const ParameterRule *later = sets(run.rules[i]) ? findReplacement(i, sets) : nullptr;
      if (later)
        diags
            .report(Code::OptionWithoutEffect, run.rules[i].loc,
                    std::string("`") + name + "` of `" + run.rules[i].pattern +
                        "` has no effect: later rules set it for all its parameters")
            .note(later->loc, "this is a later rule")
            .help("the last rule that matches a parameter decides: write wider patterns first");
    }
  }

  /// A later rule, if later ones replace the option for every parameter that the rule matches.
  const ParameterRule *findReplacement(size_t index, Sets sets) const {
    const ParameterRule &rule = run.rules[index], *found = nullptr;
    for (const Parameter &parameter : model.parameters) {
      if (index < parameter.firstRule || !matchesGlob(rule.pattern, parameter.name))
        continue;
      auto later = std::find_if(run.rules.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                run.rules.end(), [&](const ParameterRule &other) {
                                  return other.layer == rule.layer && sets(other) &&
                                         matchesGlob(other.pattern, parameter.name);
                                });
      if (later == run.rules.end())
        return nullptr;
      found = &*later;
    }
    return found;
  }

  const Run &run;
  const Model &model;
  DiagnosticEngine &diags;
};

void checkArguments(const Run &run, const Model &model, const Library &library,
                    DiagnosticEngine &diags) {
  const Symbol base = findBaseModel(run.model, library);
  if (!base)
    return;
  const ModelDecl &decl = *base.decl->as<ModelDecl>();
  auto counts = countNames(diags.sourceManager().text(decl.loc));
  // Blocks may use an argument as a dimension, without a mention in the model.
  std::set<std::string> dims;
  for (DimId id = 0; id < model.dims.size(); ++id)
    dims.insert(model.dims[id].name);
  for (const auto &[name, option] : run.modelArguments)
    if (counts[name] == 1 && !dims.count(name)) // its declaration
      diags
          .report(Code::OptionWithoutEffect, option.loc,
                  "`model." + name + "` has no effect: model `" + decl.name.text +
                      "` does not use this argument")
          .note(decl.name.loc, "the model is declared here");
}

} // namespace

void checkEffects(const Run &run, const Model &model, const Library &library,
                  DiagnosticEngine &diags) {
  GroupEffects(run, model, diags).check();
  RuleEffects(run, model, diags).check();
  checkArguments(run, model, library, diags);
}

} // namespace titan::sema
