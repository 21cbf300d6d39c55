// Random pipelines and random orders of their work.
#pragma once

#include "base/pipeline/RankPlan.h"
#include "base/schedule/Generators.h"

#include <algorithm>
#include <random>

namespace titan::test {

/// A step with values between stages of any distance, between fragments of a stage, sums over
/// microbatches and copies of parameters. Allocations are numbered in order of creation.
class RandomPipeline {
public:
  RandomPipeline(int stages, int64_t microbatches, std::mt19937 &random) : random(random) {
    pipeline = {"train", 0, stages, microbatches, "random", {}, {}, {}};
    for (int stage = 0; stage < stages; ++stage)
      addFragments(stage);
    for (int stage = 0; stage < stages; ++stage)
      addValues(stage);
  }

  pipeline::Pipeline pipeline;
  int allocations = 0;

private:
  enum Work { Begin, Forward, Backward, Update, LastUpdate, kWorkKinds };

  void addFragments(int stage) {
    using pipeline::FragmentKind;
    const std::string suffix = "." + std::to_string(stage);
    pipeline.fragments.push_back({"begin" + suffix, FragmentKind::Begin, stage, 0, {}});
    pipeline.fragments.push_back({"forward" + suffix, FragmentKind::Forward, stage, 0, {}});
    pipeline.fragments.push_back({"backward" + suffix, FragmentKind::Backward, stage, 0, {}});
    pipeline.fragments.push_back({"update" + suffix, FragmentKind::Update, stage, 0, {}});
    pipeline.fragments.push_back({"last" + suffix, FragmentKind::Update, stage, 1, {}});
  }

  void addValues(int stage) {
    const int stages = pipeline.stages;
    if (stage + 1 < stages) {
      stash({stage, Forward}, {{stage + 1, Forward}});
      stash({stage + 1, Backward}, {{stage, Backward}});
    }
    stash({stage, Forward}, {{stage, Backward}});
    for (int i = below(3); i > 0; --i) // skip connections
      stash({stage, Forward},
            {{stage + below(stages - stage), Backward}, {below(stages), Backward}});
    const int sum = allocate({stage, Begin}, {{stage, Forward}, {stage, Update}});
    at({stage, Forward}).writes.push_back(sum); // in place
    allocate({stage, Begin}, {{below(stages), Forward}, {below(stages), Backward}});
    allocate({stage, Update}, {{below(stages), LastUpdate}, {below(stages), LastUpdate}});
    use({stage, Forward}, allocations); // the tokens of the microbatch
    pipeline.inputs.push_back(allocations++);
  }

  /// The fragment of a stage for one kind of work.
  struct Site {
    int stage;
    Work work;
  };
  pipeline::Fragment &at(Site site) {
    return pipeline.fragments[static_cast<size_t>(site.stage * kWorkKinds + site.work)];
  }
  static void insert(std::vector<int> &list, int item) {
    if (std::find(list.begin(), list.end(), item) == list.end())
      list.push_back(item);
  }
  void use(Site site, int allocation) { insert(at(site).uses, allocation); }
  /// A new allocation that `writer` writes and `readers` read.
  int allocate(Site writer, std::initializer_list<Site> readers) {
    use(writer, allocations);
    at(writer).writes.push_back(allocations);
    for (Site reader : readers) {
      use(reader, allocations);
      insert(at(reader).reads, allocations);
    }
    return allocations++;
  }
  /// A new allocation with a value for each microbatch.
  void stash(Site writer, std::initializer_list<Site> readers) {
    pipeline.stashes.push_back(allocate(writer, readers));
  }
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); }

  std::mt19937 &random;
};

/// A schedule with random stages on each rank, whose actions are in a random valid order.
inline schedule::Schedule randomSchedule(int stages, int microbatches, int ranks,
                                         std::mt19937 &random) {
  auto below = [&](size_t end) {
    return std::uniform_int_distribution<size_t>(0, end - 1)(random);
  };
  schedule::Schedule schedule{stages, microbatches, {}, {}};
  for (int stage = 0; stage < stages; ++stage)
    schedule.rankOf.push_back(static_cast<int>(below(static_cast<size_t>(ranks))));
  schedule.ranks.resize(static_cast<size_t>(ranks));
  std::vector<int> next(static_cast<size_t>(microbatches), 0); // of 2 * stages actions
  while (true) {
    std::vector<size_t> open;
    for (size_t i = 0; i < next.size(); ++i)
      if (next[i] < 2 * stages)
        open.push_back(i);
    if (open.empty())
      return schedule;
    const size_t microbatch = open[below(open.size())];
    const int position = next[microbatch]++;
    const bool isForward = position < stages;
    const int stage = isForward ? position : 2 * stages - 1 - position;
    const auto kind = isForward ? schedule::Kind::Forward : schedule::Kind::Backward;
    schedule::append(schedule.ranks[static_cast<size_t>(schedule.getRankOfStage(stage))],
                     {kind, stage, static_cast<int>(microbatch)});
  }
}

} // namespace titan::test
