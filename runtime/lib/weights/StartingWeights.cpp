#include "StartingWeights.h"

#include "StoredNames.h"

#include "base/Error.h"
#include "base/text/Glob.h"
#include "base/weights/ShorterTensor.h"
#include "files/Populate.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

using Outcome = WeightRow::Outcome;

/// A tensor with the parameter's own layout.
static StoredParameter ownLayout(const NeededWeights &needed) {
  StoredParameter stored{needed.parameter, needed.name, needed.shape, 0, needed.shape, {}};
  stored.strides.resize(needed.shape.size());
  int64_t stride = 1;
  for (size_t d = needed.shape.size(); d-- > 0; stride *= needed.shape[d])
    stored.strides[d] = stride;
  return stored;
}

StartingWeights::StartingWeights(const WeightMap &map, std::span<const WeightSource> sources,
                                 std::span<const WeightStore> stores)
    : map(map), sources(sources), stores(stores) {}

std::string StartingWeights::describe(const SourceTensor &given) const {
  return fmt::format("'{}' of '{}'", given.name, sources[given.source].text());
}

std::string StartingWeights::describeSources() const {
  std::vector<std::string> texts;
  for (const WeightSource &source : sources)
    texts.push_back(source.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The names of tensors that most parameters do not have.
std::string StartingWeights::describeOthers() const {
  std::vector<std::string> names;
  for (const auto &[name, given] : tensors)
    if (!used.count(name))
      names.push_back(name);
  return names.empty() ? ""
                       : fmt::format("; these are weights of another model, with the tensors {}",
                                     listSome(names));
}

/// The names of all tensors that the map has for these weights.
std::set<std::string>
StartingWeights::makeMappedNames(std::span<const NeededWeights> needed) const {
  std::set<std::string> names;
  for (const NeededWeights &each : needed)
    if (const StoredParameter *entry = findEntry(each.parameter))
      for (int64_t tensor = 0; tensor < StridedLayout(*entry).countTensors(); ++tensor)
        names.insert(makeTensorName(*entry, each.iterations, tensor));
  return names;
}

void StartingWeights::nameTensors(std::span<const NeededWeights> needed) {
  tensors.clear();
  const std::set<std::string> mapped = makeMappedNames(needed);
  for (size_t s = 0; s < stores.size(); ++s) {
    const bool hasOwnNames = std::any_of(needed.begin(), needed.end(), [&](const auto &each) {
      return each.name.starts_with(sources[s].prefix) &&
             stores[s].find(each.name.substr(sources[s].prefix.size()));
    });
    const std::vector<Renaming> renamings =
        hasOwnNames ? std::vector<Renaming>()
                    : findRenamings(stores[s], sources[s].prefix, mapped, map);
    for (const std::string &name : stores[s].names()) {
      const std::string &word = hasOwnNames ? name : useWords(name, mapped);
      const SourceTensor given{s, name, rename(sources[s].prefix + word, renamings)};
      const auto [other, isNew] = tensors.emplace(given.mapped, given);
      if (!isNew)
        throw UserError(fmt::format("two sources have the tensor '{}': {} and {}", other->first,
                                    describe(other->second), describe(given)));
    }
  }
}

/// Refuses prefixes of no parameter and of no tensor of the map.
void StartingWeights::checkPrefixes(std::span<const NeededWeights> needed) const {
  for (const WeightSource &source : sources) {
    auto begins = [&](const std::string &name) { return name.starts_with(source.prefix); };
    const bool isKnown =
        std::any_of(needed.begin(), needed.end(),
                    [&](const NeededWeights &each) { return begins(each.name); }) ||
        std::any_of(map.parameters.begin(), map.parameters.end(),
                    [&](const StoredParameter &each) { return begins(each.tensor); });
    if (isKnown)
      continue;
    std::vector<std::string> known;
    for (const NeededWeights &each : needed)
      if (const size_t dot = each.name.find('.'); dot != std::string::npos)
        known.push_back(each.name.substr(0, dot));
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw UserError(fmt::format(
        "--init-from {}: no parameter's name begins with '{}'; {}; a path with `=` is written ./{}",
        source.text(), source.prefix,
        known.empty() ? "the program has no names with a prefix"
                      : "names begin with " + listSome(known),
        source.text()));
  }
}

void StartingWeights::findOwnSources(std::span<const NeededWeights> needed) {
  isOwn.assign(sources.size(), map.format.empty());
  for (const NeededWeights &each : needed)
    if (const auto found = tensors.find(each.name); found != tensors.end())
      isOwn[found->second.source] = true;
}

const StoredParameter *StartingWeights::findEntry(const std::string &parameter) const {
  const auto entry =
      std::find_if(map.parameters.begin(), map.parameters.end(),
                   [&](const StoredParameter &each) { return each.parameter == parameter; });
  return entry == map.parameters.end() ? nullptr : &*entry;
}

/// The tensor, if its source is of the program's own names, or of those of the map.
std::optional<StartingWeights::SourceTensor> StartingWeights::find(const std::string &name,
                                                                   bool inOwn) const {
  const auto found = tensors.find(name);
  if (found == tensors.end() || isOwn[found->second.source] != inOwn)
    return std::nullopt;
  return found->second;
}

StartingWeights::Match StartingWeights::matchOwn(const NeededWeights &needed) const {
  const std::optional<SourceTensor> given = find(needed.name, /*inOwn=*/true);
  return given ? Match{ownLayout(needed), {*given}} : Match{};
}

/// `absent` receives the tensors that other tensors of the parameter lack.
StartingWeights::Match StartingWeights::matchMapped(const NeededWeights &needed,
                                                    std::vector<std::string> &absent) const {
  const StoredParameter *entry = findEntry(needed.parameter);
  if (!entry)
    return {};
  Match match{*entry, {}};
  for (int64_t tensor = 0; tensor < StridedLayout(*entry).countTensors(); ++tensor) {
    const std::string name = makeTensorName(*entry, needed.iterations, tensor);
    if (std::optional<SourceTensor> given = find(name, /*inOwn=*/false))
      match.tensors.push_back(*given);
    else
      absent.push_back(name);
  }
  return match;
}

/// The second entry of a copy; null for others.
const StoredParameter *StartingWeights::findAlternative(const std::string &parameter) const {
  const StoredParameter *first = findEntry(parameter);
  const auto second =
      std::find_if(map.parameters.begin(), map.parameters.end(), [&](const StoredParameter &each) {
        return each.parameter == parameter && &each != first;
      });
  return second == map.parameters.end() ? nullptr : &*second;
}

/// The same iteration of the parameter of which this one is a copy.
std::optional<NeededWeights> StartingWeights::findOriginal(const NeededWeights &copy) const {
  const StoredParameter *alternative = findAlternative(copy.parameter);
  if (!alternative)
    return std::nullopt;
  const auto original =
      std::find_if(allNeeded.begin(), allNeeded.end(), [&](const NeededWeights &each) {
        if (each.iterations != copy.iterations || each.parameter == copy.parameter)
          return false;
        const StoredParameter *entry = findEntry(each.parameter);
        return entry && entry->tensor == alternative->tensor && entry->start == alternative->start;
      });
  return original == allNeeded.end() ? std::nullopt : std::optional(*original);
}

/// The tensors of a parameter by its own name or by the map; of a copy that no source has, those of
/// its original. `absent` receives the tensors that others of the parameter lack.
StartingWeights::Match StartingWeights::matchAny(const NeededWeights &needed,
                                                 std::vector<std::string> &absent) const {
  Match own = matchOwn(needed), mapped = matchMapped(needed, absent);
  if (!own.tensors.empty() && !mapped.tensors.empty())
    throw UserError(fmt::format("two sources have {}: {} and {}", needed.name,
                                describe(own.tensors[0]), describe(mapped.tensors[0])));
  if (!own.tensors.empty()) {
    absent.clear();
    return own;
  }
  const std::optional<NeededWeights> original =
      mapped.tensors.empty() ? findOriginal(needed) : std::nullopt;
  if (!original)
    return mapped;
  absent.clear();
  return matchAny(*original, absent);
}

/// Whether most weights are in no source, or have other shapes there: rules that keep initial
/// values would start a run from random numbers.
bool StartingWeights::isOfAnotherModel() const {
  constexpr std::ptrdiff_t fewest = 4; // parameters of smaller models may all be new
  auto fits = [&](const NeededWeights &needed) {
    std::vector<std::string> absent;
    const Match match = matchAny(needed, absent);
    return !match.tensors.empty() &&
           std::ranges::all_of(match.tensors, [&](const SourceTensor &given) {
             return stores[given.source].find(given.name)->shape == match.stored.shape;
           });
  };
  const std::ptrdiff_t fitting = std::ranges::count_if(allNeeded, fits);
  return std::ssize(allNeeded) >= fewest && 2 * fitting < std::ssize(allNeeded);
}

/// Adapts the layout to the shape of the stored tensors.
void StartingWeights::fitShape(const NeededWeights &needed, Match &match) const {
  const StoredParameter whole = match.stored;
  match.sizes = whole.sizes;
  match.type = needed.type;
  for (const SourceTensor &given : match.tensors) {
    const StoredTensor &tensor = *stores[given.source].find(given.name);
    stores[given.source].open(given.name, needed.type); // refuses numbers of another kind
    const bool isFirst = &given == match.tensors.data();
    if (tensor.shape == match.stored.shape)
      continue;
    const std::optional<StoredParameter> shorter = shorten(whole, tensor.shape);
    if (needed.isPartial && shorter && isFirst)
      match.stored = *shorter;
    else
      throw UserError(fmt::format(
          "{}: the tensor '{}' has shape [{}], the program needs [{}] for {}{}",
          sources[given.source].text(), given.name, fmt::join(tensor.shape, ", "),
          fmt::join(match.stored.shape, ", "), needed.parameter,
          isOfAnotherModel()
              ? "; most tensors have other shapes: these are weights of another model"
          : shorter && !needed.isPartial ? fmt::format("; to keep the initial values of the rest, "
                                                       "write in the .titan file: parameters "
                                                       "\"{}\" {{ init_from = partial }}",
                                                       needed.parameter)
                                         : ""));
  }
}

void StartingWeights::addRows(const NeededWeights &needed, const Match &match) {
  if (match.tensors.empty())
    table.push_back({Outcome::Fresh, needed.name, "", "", "optional, and in no source"});
  for (const SourceTensor &given : match.tensors) {
    const LazyTensor *quantized = stores[given.source].findQuantized(given.name);
    const std::string reason =
        match.isPartial() ? fmt::format("stored as [{}]", fmt::join(match.stored.shape, ", "))
        : quantized       ? fmt::format("dequantized ({})", quantized->method())
                          : "";
    table.push_back({match.isPartial() ? Outcome::Partial : Outcome::Loaded, needed.name,
                     given.name, sources[given.source].text(), reason});
  }
}

int64_t StartingWeights::countTensors(const std::string &parameter) const {
  const StoredParameter *entry = findEntry(parameter);
  return entry ? StridedLayout(*entry).countTensors() : 0;
}

/// Notes that required weights, or `absent` ones beside others of the parameter, are in no source.
void StartingWeights::noteMissing(const NeededWeights &needed,
                                  const std::vector<std::string> &absent) {
  const bool areOwn = std::find(isOwn.begin(), isOwn.end(), false) == isOwn.end();
  if (areOwn)
    missing.push_back(needed.name);
  else if (absent.empty())
    unmapped.push_back(needed.parameter);
  else
    missing.insert(missing.end(), absent.begin(), absent.end());
  if (lacking.empty() && (areOwn || std::ssize(absent) == countTensors(needed.parameter)))
    lacking = needed.parameter;
}

void StartingWeights::matchOne(const NeededWeights &needed) {
  std::vector<std::string> absent;
  Match match = matchAny(needed, absent);
  if (match.tensors.empty() ? !needed.isOptional : !absent.empty())
    noteMissing(needed, absent);
  fitShape(needed, match);
  addRows(needed, match);
  for (const SourceTensor &given : match.tensors)
    used.insert(given.mapped);
  match.layout.emplace(match.stored);
  matched.push_back(std::move(match));
}

void StartingWeights::match(std::span<const NeededWeights> needed) {
  allNeeded = needed;
  matched.clear();
  table.clear();
  used.clear();
  missing.clear();
  lacking.clear();
  unmapped.clear();
  nameTensors(needed);
  checkPrefixes(needed);
  findOwnSources(needed);
  for (const NeededWeights &each : needed)
    matchOne(each);
  if (!unmapped.empty())
    throw UserError(fmt::format("{}: the weights \"{}\" of the program have no entry for {}; to "
                                "keep their initial values, write in the .titan file: parameters "
                                "\"NAME\" {{ init_from = optional }}",
                                describeSources(), map.format, listSome(unmapped)));
  const std::string others = !missing.empty() && isOfAnotherModel() ? describeOthers() : "";
  if (!missing.empty())
    throw UserError(
        fmt::format("{}: there is no tensor {}, which the program needs{}", describeSources(),
                    listSome(missing),
                    !others.empty() || lacking.empty()
                        ? others
                        : fmt::format("; to keep initial values, write in the run of the .titan "
                                      "file: parameters \"{}\" {{ init_from = optional }}",
                                      lacking)));
  matchRest();
}

void StartingWeights::checkCopy(const std::string &copy, const std::string &original) const {
  const SourceTensor &given = tensors.at(copy);
  const StoredTensor *to = stores[given.source].find(given.name), *from = nullptr;
  if (const auto found = tensors.find(original); found != tensors.end())
    from = stores[found->second.source].find(found->second.name);
  for (const StoredTensor *each : {to, from})
    for (const WeightStore &store : stores)
      store.requireElements(each);
  if (from && to->dtype == from->dtype && to->shape == from->shape &&
      std::equal(to->bytes.begin(), to->bytes.end(), from->bytes.begin(), from->bytes.end()))
    return;
  throw UserError(fmt::format(
      "{}: '{}' differs from '{}', but the program has one parameter for both: compile "
      "a model with both (models of the library: `tied = false`), or leave the copy out "
      "of the file",
      describeSources(), copy, original));
}

/// Accounts for tensors that no parameter reads.
void StartingWeights::matchRest() {
  std::vector<std::string> unknown;
  for (const auto &[name, given] : tensors) {
    if (used.count(name))
      continue;
    const std::string source = sources[given.source].text();
    const auto copy = std::find_if(map.copies.begin(), map.copies.end(),
                                   [&](const auto &each) { return each.first == name; });
    const auto pattern = std::find_if(map.unused.begin(), map.unused.end(),
                                      [&](const auto &each) { return matchesGlob(each, name); });
    if (copy != map.copies.end()) {
      checkCopy(name, copy->second);
      table.push_back(
          {Outcome::Ignored, "", given.name, source, "equal to \"" + copy->second + "\""});
    } else if (pattern != map.unused.end()) {
      table.push_back({Outcome::Ignored, "", given.name, source, "unused \"" + *pattern + "\""});
    } else {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty())
    throw UserError(fmt::format(
        "{}: the program has no parameter for {}{}", describeSources(), listSome(unknown),
        map.format.empty() ? ""
                           : fmt::format("; `unused \"PATTERN\"` in its weights \"{}\" "
                                         "leaves tensors out",
                                         map.format)));
}

/// The elements of the memory of all rows.
static std::span<std::byte> getMemory(std::span<const ElementRows> rows, int64_t size,
                                      std::byte *out) {
  int64_t begin = INT64_MAX, end = 0;
  for (const ElementRows &each : rows) {
    begin = std::min(begin, each.local);
    end = std::max(end, each.local + (each.rows - 1) * each.localPitch + each.columns);
  }
  return rows.empty() ? std::span<std::byte>()
                      : std::span(out + begin * size, static_cast<size_t>((end - begin) * size));
}

/// Requests complete tensors for rows that are at least half of their elements. Of smaller parts,
/// such as the shards of a rank, the system reads what is used.
void StartingWeights::requestTensors(const Match &match, std::span<const ElementRows> rows) const {
  int64_t wanted = 0, all = 1;
  for (const ElementRows &each : rows)
    wanted += each.rows * each.columns;
  for (int64_t size : match.sizes)
    all *= size;
  if (2 * wanted >= all)
    for (const SourceTensor &given : match.tensors)
      if (!stores[given.source].findQuantized(given.name))
        readAhead(stores[given.source].find(given.name)->bytes);
}

void StartingWeights::read(size_t index, std::span<const ElementRows> rows, std::byte *out) const {
  const Match &match = matched[index];
  requestTensors(match, rows); // the disk works while memory is cleared
  populate(getMemory(rows, getByteSize(match.type), out));
  std::vector<ElementRows> segments;
  for (const ElementRows &each : rows)
    if (match.isPartial()) // its rows are not those of the stored tensor
      segments.push_back(each);
    else
      match.layout->forEachSegment(
          each, [&](const ElementRows &segment) { segments.push_back(segment); });
  std::exception_ptr failure; // no exception may leave the loop
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < segments.size(); ++i)
    try {
      readSegment(match, segments[i], out);
    } catch (...) {
#pragma omp critical(readSegments)
      failure = std::current_exception();
    }
  if (failure)
    std::rethrow_exception(failure);
}

void StartingWeights::readSegment(const Match &match, const ElementRows &rows,
                                  std::byte *out) const {
  // A parameter of several stored tensors reads few of them in a row.
  int64_t number = -1;
  StridedSource source;
  auto readBlock = [&](const StridedBlock &block) {
    if (block.tensor != number) {
      number = block.tensor;
      const SourceTensor &given = match.tensors[static_cast<size_t>(number)];
      source = stores[given.source].open(given.name, match.type);
    }
    source.read(block, out);
  };
  if (!match.isPartial())
    return match.layout->forEachBlock(rows, readBlock);
  for (int64_t i = 0; i < rows.rows; ++i) {
    const int64_t first = rows.first + i * rows.pitch;
    const int64_t local = rows.local + i * rows.localPitch - first;
    forEachCommonRun(
        match.sizes, match.stored.sizes, first, rows.columns, [&](const CommonRun &common) {
          match.layout->forEachBlock(
              {.first = common.stored, .columns = common.count, .local = local + common.element},
              readBlock);
        });
  }
}

std::map<std::string, std::string> StartingWeights::storedTypes() const {
  std::map<std::string, std::string> types;
  for (const Match &match : matched)
    for (const SourceTensor &given : match.tensors)
      if (!isOwn[given.source])
        types[given.mapped] = stores[given.source].find(given.name)->dtype;
  return types;
}

void StartingWeights::release() const {
  for (const WeightStore &store : stores)
    store.release();
}

} // namespace titan::rt
