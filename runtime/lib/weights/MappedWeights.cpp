#include "MappedWeights.h"

#include "base/Error.h"
#include "base/text/Counted.h"
#include "base/text/Glob.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

/// The first few names, and how many there are.
std::string listSome(const std::vector<std::string> &names) {
  constexpr size_t most = 5;
  const std::span<const std::string> first(names.data(), std::min(most, names.size()));
  std::string text = fmt::format("'{}'", fmt::join(first, "', '"));
  if (names.size() > most)
    text += fmt::format(" and {} more", names.size() - most);
  return text;
}

} // namespace

MappedWeights::MappedWeights(const WeightMap &map, const WeightStore &store)
    : map(map), store(store) {
  for (const StoredParameter &stored : map.parameters)
    entries.emplace(stored.parameter, Entry{&stored, StridedLayout(stored)});
}

const MappedWeights::Entry &MappedWeights::entryOf(const NeededWeights &needed) const {
  return entries.at(needed.parameter);
}

bool MappedWeights::has(const NeededWeights &needed) const {
  const auto entry = entries.find(needed.parameter);
  return entry != entries.end() &&
         used.count(nameOfTensor(*entry->second.stored, needed.iterations, 0));
}

void MappedWeights::check(std::span<const NeededWeights> needed) {
  std::vector<std::string> unmapped, missing;
  used.clear();
  freshNames.clear();
  for (const NeededWeights &each : needed) {
    const auto entry = entries.find(each.parameter);
    if (entry == entries.end()) {
      (each.isOptional ? freshNames : unmapped).push_back(each.parameter);
      continue;
    }
    const auto &[stored, layout] = entry->second;
    for (int64_t tensor = 0; tensor < layout.countTensors(); ++tensor) {
      const std::string name = nameOfTensor(*stored, each.iterations, tensor);
      if (!store.find(name)) {
        (each.isOptional ? freshNames : missing).push_back(each.isOptional ? each.parameter : name);
        continue;
      }
      checkTensor(*stored, name);
      used.insert(name);
    }
  }
  if (!unmapped.empty())
    throw UserError(fmt::format("{}: the weights \"{}\" of the program have no entry for {}; the "
                                "file can say that they keep their initial values: parameters "
                                "\"NAME\" {{ init_from = optional }}",
                                store.path(), map.format, listSome(unmapped)));
  if (!missing.empty())
    throw UserError(fmt::format("{}: there is no tensor {}, which the program needs", store.path(),
                                listSome(missing)));
  std::sort(freshNames.begin(), freshNames.end());
  freshNames.erase(std::unique(freshNames.begin(), freshNames.end()), freshNames.end());
  checkRest();
}

void MappedWeights::checkTensor(const StoredParameter &stored, const std::string &name) const {
  const StoredTensor &tensor = *store.find(name);
  if (tensor.shape != stored.shape)
    throw UserError(fmt::format("{}: the tensor '{}' has shape [{}], the program needs [{}] for {}",
                                store.path(), name, fmt::join(tensor.shape, ", "),
                                fmt::join(stored.shape, ", "), stored.parameter));
}

void MappedWeights::checkCopy(const std::string &copy, const std::string &original) const {
  const StoredTensor *from = store.find(original), *to = store.find(copy);
  if (from && to->dtype == from->dtype && to->shape == from->shape &&
      std::equal(to->bytes.begin(), to->bytes.end(), from->bytes.begin(), from->bytes.end()))
    return;
  throw UserError(fmt::format("{}: '{}' differs from '{}', and the program has one parameter for "
                              "both",
                              store.path(), copy, original));
}

/// Accounts for tensors that no parameter reads.
void MappedWeights::checkRest() {
  unusedNames.clear();
  std::vector<std::string> unknown;
  for (const std::string &name : store.names()) {
    if (used.count(name))
      continue;
    const auto copy = std::find_if(map.copies.begin(), map.copies.end(),
                                   [&](const auto &each) { return each.first == name; });
    if (copy != map.copies.end())
      checkCopy(name, copy->second);
    const bool isUnused = copy != map.copies.end() ||
                          std::any_of(map.unused.begin(), map.unused.end(),
                                      [&](const auto &each) { return matchesGlob(each, name); });
    (isUnused ? unusedNames : unknown).push_back(name);
  }
  if (!unknown.empty())
    throw UserError(fmt::format("{}: the program has no parameter for {}; `unused \"PATTERN\"` in "
                                "its weights \"{}\" leaves tensors out",
                                store.path(), listSome(unknown), map.format));
}

void MappedWeights::readRange(const NeededWeights &needed, int64_t first, int64_t count, DType type,
                              void *out) const {
  const Entry &entry = entryOf(needed);
  // A parameter of several stored tensors reads few of them in a row.
  int64_t number = -1;
  StridedSource source;
  entry.layout.forEachRun(first, count, [&](const StridedRun &run) {
    if (run.tensor != number) {
      number = run.tensor;
      source = store.open(nameOfTensor(*entry.stored, needed.iterations, number), type);
    }
    source.read(run.stored, run.storedStride, run.count, run.element - first, run.elementStride,
                out);
  });
}

} // namespace titan::rt
