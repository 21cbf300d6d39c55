#include "NonFiniteCause.h"

#include "numbers/NumberWatch.h"
#include "state/FindNonFinite.h"

#include "base/text/ShellWord.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

using Found = std::array<FoundNumber, numNonFiniteKinds>;

struct RankedNumber {
  FoundNumber number;
  int rank;
};

std::vector<Found> gather(Executor &executor, const NumberWatch &watch) {
  static_assert(sizeof(Found) % sizeof(int64_t) == 0);
  const Found own = {watch.first(NonFiniteKind::Nan), watch.first(NonFiniteKind::MadeInfinity),
                     watch.first(NonFiniteKind::ReadInfinity)};
  std::vector<Found> all(static_cast<size_t>(executor.world().size()), own);
  executor.world().worldGroup().allGather(&own, all.data(), sizeof(Found) / sizeof(int64_t),
                                          DType::I64, {"comparing numbers", ""});
  return all;
}

/// The first of all ranks in program order.
std::optional<RankedNumber> findFirst(const std::vector<Found> &all, NonFiniteKind kind) {
  std::optional<RankedNumber> first;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const FoundNumber &each = all[rank][static_cast<size_t>(kind)];
    if (each.isFound && (!first || each.order < first->number.order))
      first = {each, static_cast<int>(rank)};
  }
  return first;
}

std::string describe(const RankedNumber &found, const char *name, bool isSeveral) {
  std::string where = isSeveral ? fmt::format("rank {}", found.rank) : "";
  if (const char *iterations = found.number.iterations.data(); *iterations)
    where += fmt::format("{}{}", where.empty() ? "" : ", ", iterations);
  return fmt::format("{} `{}` {} the first {}{}", found.number.location.data(),
                     found.number.action.data(), found.number.isMade ? "makes" : "reads", name,
                     where.empty() ? "" : " (" + where + ")");
}

/// What was not finite before the step.
std::string describeSources(Executor &executor, const TrainStep &trainStep, const Batch &batch) {
  std::string text;
  if (const std::string parameter = findNonFinite(executor); !parameter.empty())
    text += fmt::format("the parameter `{}` is not finite before the step; ", parameter);
  const std::vector<InputSpec> &inputs = trainStep.inputs();
  const size_t own = trainStep.findNonFiniteInput(batch);
  const int rest = executor.maxOverRanks(static_cast<int>(inputs.size() - own));
  if (rest > 0)
    text += fmt::format("the data of the input `{}` are not finite; ",
                        inputs[inputs.size() - static_cast<size_t>(rest)].name);
  return text;
}

std::string describeOperations(const std::vector<Found> &all) {
  std::optional<RankedNumber> nan = findFirst(all, NonFiniteKind::Nan),
                              infinity = findFirst(all, NonFiniteKind::MadeInfinity);
  if (!nan && !infinity)
    infinity = findFirst(all, NonFiniteKind::ReadInfinity);
  std::vector<std::pair<RankedNumber, const char *>> found;
  if (infinity)
    found.emplace_back(*infinity, "infinity");
  if (nan)
    found.emplace_back(*nan, "nan");
  std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
    return a.first.number.order < b.first.number.order;
  });
  std::string text;
  for (const auto &[number, name] : found)
    text += (text.empty() ? "" : ", and ") + describe(number, name, all.size() > 1);
  return text;
}

} // namespace

std::string findNonFiniteCause(Executor &executor, const TrainStep &trainStep, const Batch &batch,
                               const std::function<void()> &step) {
  const std::string sources = describeSources(executor, trainStep, batch);
  NumberWatch watch(executor.device());
  executor.setNumbers(&watch);
  step();
  executor.device().synchronize();
  executor.setNumbers(nullptr);
  const std::string operations = describeOperations(gather(executor, watch));
  return sources +
         (operations.empty() ? "the step has only finite numbers when it runs again" : operations);
}

std::string describeSearch(Executor &executor, const Options &options,
                           const std::string &directory) {
  const std::string folder = std::filesystem::absolute(directory).lexically_normal().string();
  std::string command = "titanc run ";
  if (const int processes = executor.world().size(); processes > 1)
    command += fmt::format("--nproc {} ", processes);
  command += fmt::format("{} --train {} --config {} --set check_numbers=true -- --out {}",
                         forShell(folder + "/program.titan"), forShell(executor.program().name),
                         forShell(folder + "/config.toml"), forShell(folder));
  for (const WeightSource &source : options.initFrom)
    command += " --init-from " + forShell(source.text());
  return fmt::format("`{}` names the operation", command);
}

} // namespace titan::rt
