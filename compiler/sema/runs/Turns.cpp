#include "compiler/sema/runs/Turns.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/Reachability.h"
#include "compiler/sema/runs/ParameterRules.h"

#include <algorithm>

namespace titan::sema {

namespace {

const Output *findLoss(const Model &model, const std::string &name) {
  for (const Output &loss : model.losses)
    if (!loss.name.empty() && loss.name == name)
      return &loss;
  return nullptr;
}

std::vector<std::string> namedLosses(const Model &model) {
  std::vector<std::string> names;
  for (const Output &loss : model.losses)
    if (!loss.name.empty())
      names.push_back(loss.name);
  return names;
}

bool isTrained(const Parameter &parameter) {
  return !parameter.frozen && !parameter.isBuffer;
}

class TurnChecker {
public:
  TurnChecker(const Run &run, const Model &model, DiagnosticEngine &diags)
      : run(run), model(model), diags(diags) {}

  void check(const std::string &pipelined) {
    const size_t errorsBefore = diags.errorReports();
    checkNames();
    if (diags.errorReports() != errorsBefore)
      return;
    checkCovered();
    checkEffects();
    checkSteps();
    if (!pipelined.empty())
      checkLayers(pipelined);
  }

private:
  /// The option of a group; null if the group does not set it.
  static const Option *find(const Group &group, const char *name) {
    auto found = group.values.find(name);
    return found == group.values.end() ? nullptr : &found->second;
  }

  /// Whether these losses, or the updates of buffers, need a repeat over `dim`.
  bool needsLayers(const std::vector<std::string> &losses, const std::string &dim) const {
    const Reachability reachable(model, getLossValues(model, losses), /*updates=*/true);
    return std::any_of(model.body.ops.begin(), model.body.ops.end(), [&](const Op &op) {
      return op.kind == OpKind::Repeat && model.dims[op.dims[0]].name == dim && reachable.needs(op);
    });
  }

  /// A turn runs on the stages of its layers.
  void checkLayers(const std::string &dim) {
    for (const Group &group : run.groups) {
      const Option *option = find(group, "loss");
      if (!option)
        continue;
      std::vector<std::string> losses;
      for (const Value &name : option->value.elements)
        losses.push_back(name.text);
      if (!losses.empty() && !needsLayers(losses, dim))
        diags
            .report(Code::TurnWithoutLayers, option->loc,
                    "the loss of this group depends on no layer of `" + dim +
                        "`, the pipelined dimension")
            .help("add a loss that depends on them, as `loss = [" + losses.front() +
                  ", ...]`, or split other dimensions");
    }
  }

  void checkNames() {
    for (const Group &group : run.groups) {
      const Option *option = find(group, "loss");
      if (!option)
        continue;
      for (const Value &name : option->value.elements)
        if (!findLoss(model, name.text))
          reportUnknown(name.text, option->loc);
    }
  }

  void reportUnknown(const std::string &name, Location at) {
    Diagnostic &diag =
        diags.report(Code::UnknownLoss, at, "the model has no loss named `" + name + "`");
    const std::vector<std::string> known = namedLosses(model);
    if (known.empty())
      diag.note(model.loc, "the model is declared here")
          .help("name its losses: `loss " + name + " = ...`");
    else
      suggestName(diag, at, name, known, "its losses are ");
  }

  /// If a group chooses a loss, groups choose one for every trained parameter: the sum of all
  /// losses is then no objective.
  void checkCovered() {
    const Option *first = nullptr;
    for (const Group &group : run.groups)
      if (const Option *option = find(group, "loss"); option && !first)
        first = option;
    if (!first)
      return;
    for (const Parameter &parameter : model.parameters)
      if (isTrained(parameter) && !groupValue(run, "loss", parameter))
        diags
            .report(Code::ParameterWithoutLoss, parameter.loc,
                    "no group has a loss for parameter `" + parameter.name + "`")
            .note(first->nameLoc, "another group has a loss here")
            .help("add `loss = ...` to a group that matches it, or freeze it: `parameters \"" +
                  parameter.name + "\" { frozen = true }`");
  }

  /// Whether the losses of some parameter that the group matches depend on it.
  bool hasEffect(const Group &group) const {
    for (uint32_t i = 0; i < model.parameters.size(); ++i) {
      const Parameter &parameter = model.parameters[i];
      if (!isTrained(parameter) || !matchesGlob(group.pattern, parameter.name))
        continue;
      if (Reachability(model, getLossValues(model, getLossNames(run, model, parameter)))
              .parameters.count(i))
        return true;
    }
    return false;
  }

  void checkEffects() {
    for (const Group &group : run.groups)
      if (const Option *option = find(group, "loss"); option && !hasEffect(group))
        diags.report(Code::LossWithoutEffect, option->nameLoc,
                     "the loss of this group depends on none of the trained parameters that match "
                     "`" +
                         group.pattern + "`");
  }

  /// The last group that sets `every` or `offset`; null if none does.
  const Option *findPeriod() const {
    const Option *last = nullptr;
    for (const Group &group : run.groups)
      for (const char *name : {"every", "offset"})
        if (const Option *option = find(group, name))
          last = option;
    return last;
  }

  void checkSteps() {
    const Option *at = findPeriod();
    if (!at)
      return;
    std::vector<Period> periods;
    for (const Parameter &parameter : model.parameters)
      if (isTrained(parameter))
        periods.push_back(getPeriod(run, parameter));
    if (!stepsUntilRepetition(periods)) {
      diags.report(Code::TooLarge, at->loc,
                   "the periods of the groups repeat only after more than " +
                       std::to_string(kMostSteps) + " steps");
      return;
    }
    if (std::optional<int64_t> idle = findIdleStep(periods))
      diags
          .report(Code::StepWithoutUpdate, at->nameLoc,
                  "step " + std::to_string(*idle) + " would update no parameter")
          .help("a group is due in step `offset` + 1 and every `every` steps after it");
  }

  const Run &run;
  const Model &model;
  DiagnosticEngine &diags;
};

} // namespace

std::vector<std::string> getLossNames(const Run &run, const Model &model,
                                      const Parameter &parameter) {
  std::vector<std::string> names;
  const Value *chosen = groupValue(run, "loss", parameter);
  for (const Output &loss : model.losses) {
    auto isThis = [&](const Value &name) { return name.text == loss.name; };
    if (chosen && std::any_of(chosen->elements.begin(), chosen->elements.end(), isThis))
      names.push_back(loss.name);
  }
  return names.size() == model.losses.size() ? std::vector<std::string>() : names;
}

std::vector<ValueId> getLossValues(const Model &model, const std::vector<std::string> &losses) {
  std::vector<ValueId> values;
  for (const std::string &name : losses)
    values.push_back(findLoss(model, name)->value);
  return values.empty() ? std::vector<ValueId>{*model.loss} : values;
}

Period getPeriod(const Run &run, const Parameter &parameter) {
  const Value *every = groupValue(run, "every", parameter);
  const Value *offset = groupValue(run, "offset", parameter);
  return {every ? every->integer : 1, offset ? offset->integer : 0};
}

void checkTurns(const Run &run, const Model &model, const std::string &pipelined,
                DiagnosticEngine &diags) {
  TurnChecker(run, model, diags).check(pipelined);
}

} // namespace titan::sema
