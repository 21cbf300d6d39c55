// Checks between options: contradictions, and options that follow from others.
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

#include <algorithm>

namespace titan::sema {

/// A sum must not have a narrower type than its terms.
static void resolveSum(Run &run, const char *path, DType compute, DType automatic,
                       DiagnosticEngine &diags) {
  Option &sum = run.options[path];
  if (sum.value.isError())
    return;
  std::optional<DType> given = floatCalled(sum.value.print());
  if (!given)
    sum.value = Value::ofWord(spelling(automatic));
  else if (wider(*given, compute) != *given)
    diags
        .report(Code::OptionValue, sum.loc,
                std::string("`") + path + "` is " + spelling(*given) +
                    ", narrower than `precision.compute`, which is " + spelling(compute))
        .help(std::string("write `") + path + " = " + spelling(compute) +
              "`, or leave it out for " + spelling(automatic));
  else if (*given == DType::F64 && compute != DType::F64)
    diags
        .report(Code::OptionValue, sum.loc,
                std::string("`") + path + "` is f64, but `precision.compute` is " +
                    spelling(compute) + ": products of this type are summed in f32")
        .help("f64 is for runs that are f64 throughout: set `precision.compute = f64` too");
}

/// Replaces `auto` by element types.
static void resolvePrecision(Run &run, DiagnosticEngine &diags) {
  std::optional<DType> compute = floatCalled(run["precision.compute"].print()),
                       params = floatCalled(run["precision.params"].print());
  if (!compute || !params)
    return;
  resolveSum(run, "precision.reduce", *compute, wider(*compute, DType::F32), diags);
  resolveSum(run, "precision.activations_reduce", *compute, *compute, diags);
  if (Value &state = run.options["precision.optimizer"].value; state.isWord("auto"))
    state = Value::ofWord(spelling(wider(*params, DType::F32)));
}

/// Microbatches have equal sizes.
static void checkAccumulation(const Run &run, DiagnosticEngine &diags) {
  const Option &batch = run.options.at("data.batch"), &microbatches = run.options.at("accumulate");
  if (batch.value.isError() || microbatches.value.isError() ||
      batch.value.integer % microbatches.value.integer == 0)
    return;
  Diagnostic &diag = diags.report(
      Code::Indivisible, microbatches.loc,
      "a batch of " + std::to_string(batch.value.integer) + " samples cannot be cut into " +
          std::to_string(microbatches.value.integer) + " equal microbatches");
  if (batch.loc.isValid())
    diag.note(batch.loc, "the batch is set here");
  diag.help("numbers that divide it: " + listDivisors(batch.value.integer));
}

/// Reports options that another option disables. A later declaration may disable what an earlier
/// one sets: `--set schedule.decay=constant`.
static void checkIdle(const Run &run, DiagnosticEngine &diags) {
  for (const OptionSpec &spec : run.allOptions()) {
    const Option &option = run.options.at(spec.path);
    const SettingRule rule = makeIdleRule(spec);
    if (!option.loc.isValid() || option.value.isError() || rule.idleBeside.empty())
      continue;
    const Option &other = run.options.at(rule.idleBeside);
    const bool isDisabledLater = other.loc.isValid() && other.layer > option.layer;
    const std::string needed = rule.idleBeside.substr(rule.idleBeside.rfind('.') + 1);
    const bool isSetInGroup =
        spec.fixed == Fixed::Compile &&
        std::any_of(run.groups.begin(), run.groups.end(),
                    [&](const Group &group) { return group.values.count(needed) != 0; });
    const bool isOff = spec.type == OptionType::Bool && option.value == spec.initial;
    // A launch may name the data of a run with their format.
    const bool isNamedLater = rule.idleBeside == "eval.data.path" && run.evaluates();
    if (isDisabledLater || isSetInGroup || isOff || isNamedLater)
      continue;
    const std::string shown = other.value.isNumber() ? other.value.print() : other.value.text;
    if (auto mistake = findIdle(spec.path, rule, shown))
      report(*mistake, option.loc, diags);
  }
}

/// With `data.tokens`, `data.batch` is the size of a microbatch. Sets the whole batch and the
/// number of microbatches.
static void resolveTokens(Run &run, DiagnosticEngine &diags) {
  const Option &tokens = run.options["data.tokens"], &seq = run.options["data.seq"];
  Option &batch = run.options["data.batch"], &microbatches = run.options["accumulate"];
  if (!tokens.value.isInt() || !seq.value.isInt() || !batch.value.isInt() ||
      tokens.value.integer == 0)
    return;
  if (!seq.loc.isValid() || !batch.loc.isValid()) {
    diags.report(Code::OptionWithoutEffect, tokens.loc,
                 "`data.tokens` has no effect without `data.batch` and `data.seq`");
    return;
  }
  if (microbatches.loc.isValid()) {
    diags
        .report(Code::OptionWithoutEffect, microbatches.loc,
                "`accumulate` cannot be combined with `data.tokens`, which determines it")
        .note(tokens.loc, "the size of a step is set here")
        .help("remove one of them; `data.tokens = 0` resets the setting of a base run");
    microbatches.value = {}; // no further reports on this option
    return;
  }
  int64_t samples = tokens.value.integer / seq.value.integer;
  if (tokens.value.integer % seq.value.integer == 0 && samples % batch.value.integer == 0) {
    microbatches.value = Value::ofInt(samples / batch.value.integer);
    batch.value = Value::ofInt(samples);
    return;
  }
  Diagnostic &diag = diags.report(
      Code::UnevenTokens, tokens.loc,
      std::to_string(tokens.value.integer) + " tokens are not a multiple of a batch of " +
          std::to_string(batch.value.integer) + " x " + std::to_string(seq.value.integer));
  diag.note(batch.loc, "the number of samples in a microbatch is set here");
  if (batch.value.integer > INT64_MAX / 4 / seq.value.integer)
    return; // the product would overflow
  const int64_t fullMicrobatches = samples / batch.value.integer;
  const int64_t microbatchTokens = batch.value.integer * seq.value.integer;
  diag.help("the nearest step" +
            (fullMicrobatches
                 ? "s are " + std::to_string(fullMicrobatches * microbatchTokens) + " and "
                 : std::string(" is ")) +
            std::to_string((fullMicrobatches + 1) * microbatchTokens) + " tokens" +
            (tokens.value.integer % seq.value.integer
                 ? ""
                 : "; `data.batch` can be " + listDivisors(samples)));
}

void completeRun(Run &run, DiagnosticEngine &diags) {
  checkRecomputeConflicts(run, diags);
  checkIdle(run, diags);
  resolveTokens(run, diags);
  checkAccumulation(run, diags);
  resolvePrecision(run, diags);
}

} // namespace titan::sema
