#include "compiler/sema/ParameterRules.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"

#include <limits>

namespace titan::sema {

using namespace syntax;

/// A group's factor of the learning rate. A factor, because the rate itself may change at launch.
static const OptionSpec &rateScale() {
  static const OptionSpec spec = {"lr_scale", OptionType::Float, Value::ofFloat(1), Fixed::Compile,
                                  "factor of the learning rate", 0,
                                  std::numeric_limits<double>::infinity(), {}};
  return spec;
}

void readGroup(const Setting &setting, const Library &library, const Unit &unit, Run &run,
               DiagnosticEngine &diags) {
  constexpr size_t mostGroups = 1000;
  if (run.groups.size() >= mostGroups) {
    diags.report(Code::TooLarge, setting.loc,
                 "a run has at most " + std::to_string(mostGroups) + " groups");
    return;
  }
  Group group{setting.label->text, {}, {}, setting.label->loc};
  static const std::vector<Setting> nothing;
  for (const Setting &entry : setting.block ? *setting.block : nothing) {
    const std::string name = entry.path.text();
    if ((name != "weight_decay" && name != "lr_scale") || !entry.value) {
      diags.report(Code::UnknownOption, entry.path.loc, "a group has no option `" + name + "`")
          .help("groups set `weight_decay` and `lr_scale`");
      continue;
    }
    const bool isRate = name == "lr_scale";
    Value value = checkOption(isRate ? rateScale() : *findOption("optimizer.weight_decay"),
                              Elaborator::evalConstant(*entry.value, library, unit, diags),
                              entry.value->loc, diags);
    if (!value.isError())
      (isRate ? group.rateScale : group.weightDecay) = value.number();
  }
  run.groups.push_back(group);
}

void readRule(const Setting &setting, const Library &library, const Unit &unit, Run &run,
              DiagnosticEngine &diags) {
  constexpr size_t mostRules = 1000;
  if (run.rules.size() >= mostRules) {
    diags.report(Code::TooLarge, setting.loc,
                 "a run has at most " + std::to_string(mostRules) + " rules for parameters");
    return;
  }
  ParameterRule rule{setting.label->text, {}, {}, setting.label->loc};
  static const std::vector<Setting> nothing;
  for (const Setting &entry : setting.block ? *setting.block : nothing) {
    std::string name = entry.path.text();
    if ((name != "init" && name != "frozen") || !entry.value) {
      diags.report(Code::UnknownOption, entry.path.loc, "parameters have no option `" + name + "`")
          .help("a run can set their `init` and `frozen`");
      continue;
    }
    if (name == "init") {
      rule.init = Elaborator::evalInitialiser(*entry.value, library, unit, diags);
      continue;
    }
    Value frozen = Elaborator::evalConstant(*entry.value, library, unit, diags);
    if (frozen.kind == Value::Kind::Bool)
      rule.frozen = frozen.truth();
    else if (!frozen.isError())
      diags.report(Code::OptionType, entry.value->loc,
                   "`frozen` takes true or false, not " + frozen.print());
  }
  run.rules.push_back(std::move(rule));
}

void applyRules(const Run &run, Model &model, DiagnosticEngine &diags) {
  for (const ParameterRule &rule : run.rules) {
    bool matched = false;
    for (Parameter &parameter : model.parameters) {
      if (!matchesPattern(rule.pattern, parameter.name))
        continue;
      matched = true;
      if (rule.init)
        parameter.initialisers = {*rule.init};
      parameter.frozen = rule.frozen.value_or(parameter.frozen);
    }
    if (!matched)
      diags.report(Code::UnknownGroupPattern, rule.loc,
                   "no parameter's name matches `" + rule.pattern + "`");
  }
}

void checkGroups(const Run &run, const Model &model, DiagnosticEngine &diags) {
  for (const Group &group : run.groups) {
    bool matched = false;
    for (const Parameter &parameter : model.parameters)
      matched |= matchesPattern(group.pattern, parameter.name);
    if (!matched)
      diags.report(Code::UnknownGroupPattern, group.loc,
                   "no parameter's name matches `" + group.pattern + "`");
  }
}

} // namespace titan::sema
