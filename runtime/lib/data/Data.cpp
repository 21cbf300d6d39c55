#include "Data.h"
#include "ArraySamples.h"
#include "BatchReader.h"
#include "PackedSamples.h"
#include "TokenSamples.h"

#include "base/Error.h"
#include "base/data/DataPaths.h"
#include "base/data/TokenIndex.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// Tokens whose storage type has numbers outside of the vocabulary. Each token is checked when it
/// is read, so that no kernel reads out of bounds.
class BoundedTokens final : public TokenStream {
public:
  BoundedTokens(std::unique_ptr<TokenStream> stream, std::string path, int64_t bound)
      : stream(std::move(stream)), path(std::move(path)), bound(bound) {}

  int64_t size() const override { return stream->size(); }
  int64_t leastToken() const override { return 0; }
  int64_t vocabulary() const override { return bound; }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    stream->read(first, count, out);
    for (int64_t i = 0; i < count; ++i)
      if (out[i] < 0 || out[i] >= bound)
        refuse(out[i], first + i);
  }

  int64_t nextDocument(int64_t position) const override { return stream->nextDocument(position); }
  void forEachDocument(const std::function<void(int64_t, int64_t)> &visit) const override {
    stream->forEachDocument(visit);
  }

private:
  [[noreturn]] void refuse(int64_t token, int64_t position) const {
    throw UserError(fmt::format("'{}' holds the token {} at position {}, {}", path, token, position,
                                reasonAgainst(token)));
  }

  std::string reasonAgainst(int64_t token) const {
    if (token >= 0)
      return fmt::format("but the model's vocabulary has {} tokens", bound);
    std::string reason = "but no token is negative";
    if (token == -100)
      reason += "; -100 is PyTorch's `ignore_index`: store a token of the vocabulary instead, with "
                "the weight 0 in *.weights.bin";
    const int64_t least = stream->leastToken();
    if (least < INT32_MIN || token == -100)
      return reason;
    // The value that an unsigned type would hold.
    if (const int64_t wrapped = token - 2 * least; wrapped < bound)
      reason += fmt::format("; it may be {}, stored in a type that is too narrow", wrapped);
    return reason;
  }

  std::unique_ptr<TokenStream> stream;
  std::string path;
  int64_t bound;
};

/// Reads the first tokens, which checks them.
void scanTokens(const TokenStream &stream) {
  std::vector<int64_t> buffer(1 << 16);
  const int64_t end = std::min(stream.size(), checkedIndices);
  for (int64_t start = 0; start < end; start += static_cast<int64_t>(buffer.size()))
    stream.read(start, std::min<int64_t>(buffer.size(), end - start), buffer.data());
}

/// The tokens of a file, each below `vocabulary`.
std::unique_ptr<TokenStream> openBounded(const std::string &format, const std::string &path,
                                         int64_t vocabulary) {
  auto stream = openTokens(format, path);
  if (stream->leastToken() >= 0 && stream->vocabulary() <= vocabulary)
    return stream;
  auto bounded = std::make_unique<BoundedTokens>(std::move(stream), path, vocabulary);
  scanTokens(*bounded);
  return bounded;
}

/// The input that is fed with `feed`, if there is one.
std::vector<InputSpec>::const_iterator findInput(const std::vector<InputSpec> &inputs, Feed feed) {
  return std::find_if(inputs.begin(), inputs.end(),
                      [&](const InputSpec &input) { return findFeed(input.name) == feed; });
}

bool reads(const std::vector<InputSpec> &inputs, Feed feed) {
  return findInput(inputs, feed) != inputs.end();
}

/// Arrays give inputs of any name and meaning.
std::optional<WeightsInput> findWeights(const std::vector<InputSpec> &inputs,
                                        const DataSettings &data) {
  const auto found = findInput(inputs, Feed::Weights);
  if (data.format == "arrays" || found == inputs.end())
    return std::nullopt;
  return WeightsInput{static_cast<size_t>(found - inputs.begin()), found->type};
}

/// A document of which only some labels count must not be split: a part would lack its prompt.
Overlong readOverlong(const std::string &word, const LabelWeights &weights) {
  if (word == "truncate")
    return Overlong::Truncate;
  if (word == "skip")
    return Overlong::Skip;
  return word == "auto" && weights.exist() ? Overlong::Refuse : Overlong::Split;
}

std::unique_ptr<SampleSet> openTokenSamples(const Program &program, const DataSettings &data,
                                            const std::vector<InputSpec> &inputs) {
  auto stream = openBounded(data.format, data.path, program.vocab);
  LabelWeights weights;
  if (data.format == "indexed" && reads(inputs, Feed::Weights))
    weights = LabelWeights(tokenFilePrefix(data.path), stream->size());
  const Overlong overlong = readOverlong(data.overlong, weights);
  if (data.packsDocuments)
    return std::make_unique<PackedSamples>(std::move(stream), std::move(weights), data.path,
                                           program.positions, overlong, inputs,
                                           inputRemedy(program, {"documents", "weights"}));
  return std::make_unique<TokenSamples>(std::move(stream), std::move(weights), data.path,
                                        program.positions, inputs);
}

/// Whether there is a file or folder, or indexed tokens with this prefix.
bool exists(const std::string &path) {
  return fs::exists(path) || fs::exists(tokenFilePrefix(path) + ".idx");
}

constexpr const char *rightForm =
    "a mixture has a weight before each path, \"0.7 web 0.3 code\"; evaluation sets have a name "
    "before each path, \"web=valid/web code=valid/code\"";

/// Refuses missing data by the path that the user gave, before a reader names one of its files.
void requireFiles(const DataSettings &data) {
  if (exists(data.path))
    return;
  const std::string prefix = tokenFilePrefix(data.path);
  const bool hasTokens = fs::exists(prefix + ".bin");
  throw UserError(fmt::format(
      "cannot read '{}': No such file or directory{}{}", hasTokens ? prefix + ".idx" : data.path,
      data.format == "indexed" && !hasTokens
          ? fmt::format(", and no tokens '{}.bin' with '{}.idx'", prefix, prefix)
          : "",
      data.path.find(' ') == std::string::npos ? ""
                                               : std::string("; of several paths, ") + rightForm));
}

std::unique_ptr<SampleSet> openSamples(const Program &program, const DataSettings &data,
                                       const std::vector<InputSpec> &inputs) {
  if (data.format == "arrays" && data.packsDocuments)
    throw UserError(fmt::format("'{}' is read as arrays, which are samples already: leave out "
                                "`packing = documents`",
                                data.path));
  requireFiles(data);
  if (data.format == "arrays")
    return std::make_unique<ArraySamples>(data.path, inputs);
  if (program.vocab == 0)
    throw UserError(
        fmt::format("'{}' is read as {}, but the program was compiled for arrays; rebuild "
                    "it with --set data.format={}",
                    data.path, data.format, data.format));
  return openTokenSamples(program, data, inputs);
}

/// The settings of the set at `path`, one of several.
DataSettings withPath(const std::string &path, DataSettings data) {
  data.path = path;
  return data;
}

/// The data sets that the path names.
std::vector<DataPath> readPaths(const DataSettings &data) {
  const auto [paths, mistake] = parseDataPaths(data.path);
  if (!mistake.empty())
    throw UserError(
        fmt::format("'{}' names several data sets, but {}: {}", data.path, mistake, rightForm));
  if (paths.size() == 1 && !exists(data.path))
    if (const std::string wrong = findMixtureMistake(data.path); !wrong.empty())
      throw UserError(fmt::format("there is no file '{}'; as a mixture, it has a mistake: {}: {}",
                                  data.path, wrong, rightForm));
  return paths;
}

/// Refuses a set so light that no sample would come from it: shares are multiples of 2^-32.
void refuseTooLightSets(const std::vector<DataPath> &sets) {
  auto isLighter = [](const DataPath &a, const DataPath &b) { return a.weight < b.weight; };
  const DataPath &heaviest = *std::max_element(sets.begin(), sets.end(), isLighter);
  for (const DataPath &set : sets)
    if (set.weight / heaviest.weight < 0x1p-32)
      throw UserError(
          fmt::format("the weight {:g} of '{}' is too small beside the {:g} of '{}': no "
                      "sample would come from it; raise it, or leave out the set",
                      set.weight, set.path, heaviest.weight, heaviest.path));
}

} // namespace

DataSettings getTrainingSettings(const Settings &settings) {
  return {settings.text("data.path", ""), settings.text("data.format", "text"),
          settings.text("data.packing", "none") == "documents",
          settings.text("data.overlong", "auto")};
}

DataSettings getEvaluationSettings(const Settings &settings) {
  const std::string format = settings.resolveAuto("eval.data.format", "data.format", "text"),
                    packing = settings.resolveAuto("eval.data.packing", "data.packing", "none");
  return {settings.text("eval.data.path", ""), format,
          packing == "documents" && format == "indexed", settings.text("data.overlong", "auto")};
}

DataSource openTrainingData(const Program &program, const std::vector<InputSpec> &inputs,
                            const DataSettings &data, uint64_t seed) {
  std::vector<DataSource::Component> components;
  const std::vector<DataPath> sets = readPaths(data);
  refuseTooLightSets(sets);
  for (const DataPath &set : sets) {
    if (!set.name.empty())
      throw UserError(fmt::format("'{}' names an evaluation set, but these are training data; for "
                                  "a file of this name write './{}={}'",
                                  data.path, set.name, set.path));
    components.push_back(
        {set.weight, set.path, openSamples(program, withPath(set.path, data), inputs)});
  }
  return DataSource(std::move(components), seed);
}

std::vector<EvaluationSet> openEvaluationSets(const Program &program, const DataSettings &data,
                                              const std::string &function) {
  const std::vector<InputSpec> inputs = getInputSpecs(program, function);
  const std::vector<DataPath> paths = readPaths(data);
  if (paths.size() > 1 && paths[0].name.empty())
    throw UserError(fmt::format("'{}' is a mixture, but an evaluation reads every sample once: "
                                "name the sets instead, as in \"web={} code={}\"",
                                data.path, paths[0].path, paths[1].path));
  std::vector<EvaluationSet> sets;
  for (const DataPath &set : paths) {
    std::vector<DataSource::Component> one;
    one.push_back({1, set.path, openSamples(program, withPath(set.path, data), inputs)});
    sets.push_back({set.name, set.path, DataSource(std::move(one), 0, /*shuffle=*/false),
                    findWeights(inputs, data)});
  }
  return sets;
}

int64_t countLabels(const EvaluationSet &set, int64_t samples, int64_t positions) {
  if (!set.weights)
    return samples * positions;
  // A weight is 0 or 1, and of the numbers of a type, 0 alone has no byte other than 0.
  const auto bytes = static_cast<size_t>(getByteSize(set.weights->type));
  std::vector<std::byte> row(static_cast<size_t>(positions) * bytes);
  int64_t count = 0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    set.data.read(sample, set.weights->number, 0, positions, row.data());
    for (auto at = row.begin(); at != row.end(); at += static_cast<std::ptrdiff_t>(bytes))
      count += std::any_of(at, at + static_cast<std::ptrdiff_t>(bytes),
                           [](std::byte byte) { return byte != std::byte{0}; });
  }
  return count;
}

std::string inputRemedy(const Program &program, std::initializer_list<const char *> names) {
  for (const char *name : names)
    for (const AbsentInput &input : program.absentInputs)
      if (input.name == name)
        return fmt::format("rebuild the program with `titanc build FILE.titan --set {}`",
                           input.setting);
  return "declare it with the dimensions of `tokens`, and use it in the loss";
}

bool mixesDocuments(const Program &program, const std::vector<InputSpec> &inputs,
                    const DataSettings &data) {
  return data.packsDocuments && !reads(inputs, Feed::Documents) &&
         std::any_of(program.absentInputs.begin(), program.absentInputs.end(),
                     [](const AbsentInput &input) { return input.name == "documents"; });
}

std::vector<std::string> unreadWeights(const std::vector<InputSpec> &inputs,
                                       const DataSettings &data) {
  std::vector<std::string> unread;
  if (data.format != "indexed" || reads(inputs, Feed::Weights))
    return unread;
  for (const DataPath &set : parseDataPaths(data.path).paths)
    if (std::string file = weightsFile(tokenFilePrefix(set.path)); fs::exists(file))
      unread.push_back(std::move(file));
  return unread;
}

} // namespace titan::rt
