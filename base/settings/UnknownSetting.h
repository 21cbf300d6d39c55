// Diagnostics for unknown settings, shared by the compiler and its programs. Plain data,
// header-only.
#pragma once

#include "base/text/NearestName.h"

#include <initializer_list>

namespace titan {

/// "`a`, `b` and `c`"; "nothing" for an empty list.
inline std::string listNames(const std::vector<std::string> &names) {
  if (names.empty())
    return "nothing";
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      all += i + 1 == names.size() ? " and " : ", ";
    all += "`" + names[i] + "`";
  }
  return all;
}

/// The known path that `path` probably means: the same name in another section, or the nearest
/// name.
inline std::string nearestPath(const std::string &path, const std::vector<std::string> &known) {
  auto getLastSegment = [](const std::string &whole) { return whole.substr(whole.rfind('.') + 1); };
  std::vector<std::string> elsewhere;
  for (const std::string &one : known)
    if (getLastSegment(one) == getLastSegment(path))
      elsewhere.push_back(one);
  std::string near = nearestName(path, known);
  size_t dot = path.rfind('.') + 1; // after the section, if there is one
  bool isOfSection = dot != 0 && near.compare(0, dot, path, 0, dot) == 0;
  std::string nearSegment = isOfSection ? near.substr(dot) : "";
  if (isOfSection && getLastSegment(path).rfind(nearSegment, 0) != 0 &&
      nearestName(getLastSegment(path), {nearSegment}).empty())
    near.clear(); // only the section matches
  if (elsewhere.size() == 1 || (near.empty() && !elsewhere.empty()))
    near = elsewhere.back();
  return near;
}

/// A remedy if other trainers use the last segment of `path` as an option; else empty.
inline std::string helpForForeign(const std::string &path) {
  const std::string name = path.substr(path.rfind('.') + 1);
  auto isOneOf = [&](std::initializer_list<const char *> names) {
    return std::any_of(names.begin(), names.end(), [&](const char *one) { return name == one; });
  };
  if (isOneOf({"epochs", "epoch", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs"}))
    return "the length of a run is a number of steps, `steps = ...`: an epoch has the tokens of "
           "the data "
           "divided "
           "by `batch * seq`";
  if (isOneOf({"max_steps", "num_steps", "max_iters", "iterations", "train_steps"}))
    return "write `steps = ...`";
  if (isOneOf({"gradient_accumulation_steps", "grad_accum", "accumulation_steps",
               "gradient_accumulation"}))
    return "write `accumulate = ...`";
  if (isOneOf({"grad_clip", "max_grad_norm", "gradient_clip_val", "clip_grad_norm"}))
    return "write `clip = ...`";
  return "";
}

/// The remedy for an unknown `path`.
inline std::string helpForUnknown(const std::string &path, const std::vector<std::string> &known) {
  if (std::string foreign = helpForForeign(path); !foreign.empty())
    return foreign;
  std::string section = path;
  auto others = [&] {
    std::vector<std::string> names;
    for (const std::string &one : known)
      if (one.rfind(section + ".", 0) == 0)
        names.push_back(one.substr(section.size() + 1));
    return names;
  };
  bool isSection = !others().empty();
  if (std::string near = nearestPath(path, known); !near.empty() && !isSection)
    return "the nearest option is `" + near + "`";
  if (!isSection && path.find('.') != std::string::npos)
    section = path.substr(0, path.rfind('.'));
  return others().empty() ? "`titanc info --options` lists all options"
                          : "`" + section + " { ... }` has " + listNames(others());
}

} // namespace titan
