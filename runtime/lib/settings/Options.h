// Parsed command line options. cli/ fills them in.
#pragma once

#include "base/weights/WeightSource.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

enum class Command { Train, Eval, Generate, Apply, Export };

/// How the next token of a text is chosen (generation/Sampling.h).
struct Sampling {
  double temperature = 0; ///< the logits are divided by it; 0: the most likely token
  int64_t topK = 0;       ///< number of most likely tokens to choose from; 0: all
  double topP = 1;        ///< choose from the smallest set with this total probability; in (0, 1]
  double minP = 0; ///< exclude tokens less probable than this fraction of the most probable one
  double repetitionPenalty = 1; ///< makes tokens of the text less likely; 1: does not
};

struct Options {
  Command command = Command::Train;
  std::string executable; ///< argv[0]

  std::string configFile;
  std::vector<std::string> sets; ///< PATH=VALUE each
  std::string data;
  std::vector<std::string> evalData; ///< NAME=PATH each, or one PATH
  std::string tokenizer; ///< of data and prompts: a path or `bytes`; empty: that of `initFrom`
  std::vector<WeightSource> initFrom;
  std::string resume = "auto"; ///< auto, none, or a checkpoint's directory
  std::string out;             ///< empty: runs/RUN, and of `apply` outputs
  std::optional<int64_t> steps;
  double epochs = 0; ///< passes over the data, which determine `steps`; 0: none are given
  std::optional<int64_t> stopAt;
  std::optional<int64_t> seed;
  int64_t logEvery = 10;
  bool dryRun = false;
  bool checkReplicas = false;
  bool costs = false;  ///< write what the steps cost
  int64_t profile = 0; ///< number of steps; 0: none
  std::string saveInitial;
  std::string saveGradients;

  std::string prompt;
  std::string prompts;             ///< a file of prompts; empty: only `prompt`
  bool json = false;               ///< write a JSON object per prompt or evaluation set
  std::vector<std::string> stops;  ///< texts before which a continuation ends
  std::vector<int64_t> stopTokens; ///< tokens before which a continuation ends
  bool chat = false; ///< a prompt is a user's message in the tokenizer's chat template
  int64_t maxTokens = 100;
  Sampling sampling;
  bool noKvCache = false; ///< computes all positions for every token

  std::string images; ///< the output that `apply` also writes as pictures; empty: none

  std::string exportDirectory;
  std::string distributedDirectory; ///< of an export for torch.distributed.checkpoint
  std::string adapterDirectory;     ///< of an export of adapters alone
  std::string exportType =
      "auto"; ///< of all exported weights: bf16, f16, f32, f64; auto: see Export
};

} // namespace titan::rt
