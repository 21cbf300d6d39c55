#include "compiler/sema/check/Patterns.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <tuple>

namespace titan::sema {

/// `rule` is the index of a rule for parameters, which may not apply to those of adapters.
static std::vector<std::string> findMatches(const std::string &pattern, const Model &model,
                                            bool buffersToo, size_t rule = SIZE_MAX) {
  std::vector<std::string> names;
  for (const Parameter &parameter : model.parameters)
    if ((buffersToo || !parameter.isBuffer) && rule >= parameter.firstRule &&
        matchesGlob(pattern, parameter.name))
      names.push_back(parameter.name);
  return names;
}

std::vector<PatternUse> listPatterns(const CheckedRun &run) {
  std::vector<PatternUse> uses;
  for (const Group &group : run.run.groups)
    uses.push_back({"group", group.pattern, group.loc,
                    findMatches(group.pattern, run.train, /*buffersToo=*/false)});
  for (size_t i = 0; i < run.run.rules.size(); ++i) {
    const ParameterRule &rule = run.run.rules[i];
    uses.push_back({"parameters", rule.pattern, rule.loc,
                    findMatches(rule.pattern, run.train, rule.init.has_value(), i)});
  }
  auto position = [](const PatternUse &use) {
    return std::tuple(use.loc.file, use.loc.line, use.loc.col);
  };
  std::stable_sort(uses.begin(), uses.end(), [&](const PatternUse &a, const PatternUse &b) {
    return position(a) < position(b);
  });
  for (const MeshOverride &entry : run.mesh.overrides)
    if (uses.empty() || !(uses.back().loc == entry.patternLoc)) // one entry for each of its lines
      uses.push_back({entry.ofParameters ? "map: parameters" : "map: values", entry.pattern,
                      entry.patternLoc, entry.tensors});
  return uses;
}

namespace {

/// The segments of a parameter name that come from calls: start and length of each.
std::vector<std::pair<size_t, size_t>> callSegments(const Parameter &parameter) {
  std::vector<std::pair<size_t, size_t>> segments;
  const std::string &name = parameter.name;
  int64_t number = 0;
  for (size_t from = 0, dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1) {
    const auto &repeats = parameter.repeatSegments;
    if (std::find(repeats.begin(), repeats.end(), number++) == repeats.end())
      segments.emplace_back(from, dot - from);
  }
  return segments;
}

/// Whether an inner call with the first name of the pattern declares the parameter, and only an
/// outer prefix prevents a match.
bool isMissed(const std::string &pattern, const Parameter &parameter) {
  const std::string lead = pattern.substr(0, pattern.find_first_of(".*?"));
  if (matchesGlob(pattern, parameter.name))
    return false;
  for (auto [from, length] : callSegments(parameter))
    if (parameter.name.compare(from, length, lead) == 0 &&
        matchesGlob(pattern, parameter.name.substr(from)))
      return true;
  return false;
}

} // namespace

void warnMissedNames(const CheckedRun &run, DiagnosticEngine &diags) {
  for (const PatternUse &use : listPatterns(run)) {
    bool hasLead = use.pattern.find_first_of("*?") != std::string::npos &&
                   use.pattern.find_first_of(".*?") != 0;
    const std::vector<Parameter> &all = run.train.parameters;
    auto missed = std::find_if(all.begin(), all.end(), [&](const Parameter &parameter) {
      return isMissed(use.pattern, parameter);
    });
    if (!hasLead || use.section == "map: values" || use.matches.empty() || missed == all.end())
      continue;
    const std::string call = use.pattern.substr(0, use.pattern.find_first_of(".*?"));
    diags
        .report(Code::PatternMisses, use.loc,
                "`" + use.pattern + "` matches `" + use.matches[0] + "`, but not `" + missed->name +
                    "`, a parameter of another call named `" + call + "`")
        .note(missed->loc, "`" + missed->name + "` is declared here")
        .help("`*" + call +
              ".*` matches the parameters of all calls of this name; `titanc info` shows what "
              "each pattern matches");
  }
}

} // namespace titan::sema
