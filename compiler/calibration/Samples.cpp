#include "compiler/calibration/Samples.h"

#include "base/Error.h"
#include "compiler/calibration/Median.h"

#include <algorithm>
#include <filesystem>

namespace titan::calibration {
namespace {

/// The name of an operation's spans. Operations without a source line have no span of their own.
std::string getSpanName(const StepItem &item) {
  if (item.source.file.empty())
    return "";
  return std::filesystem::path(item.source.file).filename().string() + ":" +
         std::to_string(item.source.line) + " " + item.name;
}

/// What one span measures: consecutive operations with the same name, and those without a source
/// line after them.
struct Group {
  const StepItem *first;
  int64_t size = 1;
};

using GroupsByName = std::map<std::string, std::vector<Group>>;

bool isStarted(const StepItem &item) {
  auto *collective = std::get_if<StepCollective>(&item.what);
  return collective && collective->channel >= 0;
}

/// The groups of one execution of a function, in order. A started collective has a span on the
/// program's own lane for its start, and one on a lane of communication.
class Execution {
public:
  GroupsByName operations, collectives;

  void add(const StepItems &items) {
    last.clear();
    for (const StepItem &item : items) {
      if (auto *loop = std::get_if<StepLoop>(&item.what))
        addLoop(*loop);
      else
        add(item);
    }
    last.clear();
  }

private:
  void addLoop(const StepLoop &loop) {
    for (const StepLoop::Body &body : loop.bodies)
      for (int64_t i = 0; i < body.count; ++i)
        add(body.items);
  }

  void add(const StepItem &item) {
    const std::string name = getSpanName(item);
    if (isStarted(item))
      collectives[name].push_back({&item});
    if (!last.empty() && (name == last || name.empty()))
      ++operations[last].back().size;
    else if (!std::holds_alternative<StepWait>(item.what) && !name.empty())
      operations[last = name].push_back({&item});
    else
      last.clear();
  }

  std::string last; ///< the name of the span that goes on; empty: unknown
};

/// Calls `add(item, seconds)` with the median of its spans for each item that has spans of its own.
template <typename Add> void join(const GroupsByName &groups, const SpansByName &spans, Add add) {
  for (const auto &[name, ofName] : groups) {
    auto found = spans.find(name);
    if (found == spans.end())
      continue; // for example an operation that is computed by its users
    const std::vector<double> &seconds = found->second;
    if (seconds.size() % ofName.size() != 0)
      throw UserError("the profile has " + std::to_string(seconds.size()) + " spans `" + name +
                      "`, the program " + std::to_string(ofName.size()) + " a step");
    for (size_t i = 0; i < ofName.size(); ++i) {
      if (ofName[i].size > 1)
        continue;
      std::vector<double> ofItem;
      for (size_t at = i; at < seconds.size(); at += ofName.size())
        ofItem.push_back(seconds[at]);
      add(*ofName[i].first, ofItem);
    }
  }
}

} // namespace

Samples joinSamples(const StepProgram &step, const std::string &name, const Profile &profile) {
  auto function = step.functions.find(name);
  if (function == step.functions.end())
    throw UserError("the program has no function `" + name + "`");
  Execution execution;
  execution.add(function->second);
  Samples samples;
  // The shortest collective is the one for which no rank came late.
  auto addCollective = [&](const StepItem &item, const std::vector<double> &seconds) {
    samples.collectives.push_back({std::get<StepCollective>(item.what).work,
                                   *std::min_element(seconds.begin(), seconds.end())});
  };
  join(execution.operations, profile.operations,
       [&](const StepItem &item, const std::vector<double> &seconds) {
         if (auto *kernel = std::get_if<StepKernel>(&item.what))
           samples.kernels.push_back({kernel->work, *getMedian(seconds)});
         else if (!isStarted(item))
           addCollective(item, seconds);
       });
  join(execution.collectives, profile.collectives, addCollective);
  return samples;
}

} // namespace titan::calibration
