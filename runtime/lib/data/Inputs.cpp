#include "Inputs.h"

#include "DataDigests.h"
#include "base/Error.h"
#include "weights/TokenizerFiles.h"

#include <filesystem>
#include <iterator>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Inputs = std::vector<Identity::Input>;

constexpr const char *bytesTokenizer = "bytes"; // --tokenizer bytes

Inputs identifyTokenizer(const std::string &path) {
  if (path == bytesTokenizer)
    return {{"tokenizer", "", bytesTokenizer}};
  Inputs inputs;
  for (const TokenizerDigest &file : digestTokenizerFiles(path))
    inputs.push_back(
        Identity::makeInput(fs::path(file.path).filename().string(), file.path, file.digest));
  return inputs;
}

/// Whether the file describes how texts are written, not which tokens there are.
bool isConfiguration(const Identity::Input &input) {
  return input.name == "tokenizer_config.json" || input.name == "chat_template.jinja";
}

Inputs select(const Inputs &inputs, bool isWanted(const Identity::Input &)) {
  Inputs selected;
  std::ranges::copy_if(inputs, std::back_inserter(selected), isWanted);
  return selected;
}

/// Files that decide about the tokens.
Inputs selectTokens(const Inputs &inputs) {
  return select(inputs, [](const Identity::Input &input) { return !isConfiguration(input); });
}

Inputs selectConfigurations(const Inputs &inputs) {
  return select(inputs, isConfiguration);
}

/// Files of earlier versions may have lost their content in a power failure.
Inputs identifyCopy(const std::string &runDirectory) {
  if (tokenizerBeside(runDirectory).empty())
    return {};
  Inputs inputs = selectTokens(identifyTokenizer(runDirectory));
  std::erase_if(inputs,
                [](const Identity::Input &input) { return input.digest.starts_with("0 bytes"); });
  return inputs;
}

/// The changes of a list of which both sides are known.
std::string compare(const Inputs &then, const Inputs &now) {
  return then.empty() || now.empty() ? "" : describeChanges(then, now);
}

} // namespace

std::string chooseTokenizer(const Options &options) {
  return options.tokenizer.empty() ? findTokenizerSource(options.initFrom) : options.tokenizer;
}

Identity identifyInputs(const Options &options, const Settings &settings) {
  const std::string tokenizer = chooseTokenizer(options);
  return {digestData(settings), tokenizer.empty() ? Inputs() : identifyTokenizer(tokenizer)};
}

void expectSameTokenizer(const Identity &then, const Identity &now,
                         const std::string &runDirectory) {
  const Inputs known =
      then.tokenizer.empty() ? identifyCopy(runDirectory) : selectTokens(then.tokenizer);
  const std::string changes = compare(known, selectTokens(now.tokenizer));
  if (!changes.empty())
    throw UserError(fmt::format(
        "the checkpoint was trained with another tokenizer: {}. Continue with the one of the run, "
        "--tokenizer {}; pass another --out DIR; or start over with --resume none",
        changes, runDirectory));
}

std::string describeOtherInputs(const Identity &then, const Identity &now) {
  std::string all;
  auto add = [&](const char *what, const std::string &changes) {
    if (!changes.empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", what, changes);
  };
  add("data", compare(then.data, now.data));
  add("tokenizer",
      compare(selectConfigurations(then.tokenizer), selectConfigurations(now.tokenizer)));
  if (then.passes && now.passes)
    add("plugins and passes", describeChanges(*then.passes, *now.passes));
  return all;
}

} // namespace titan::rt
