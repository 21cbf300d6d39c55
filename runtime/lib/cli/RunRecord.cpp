#include "RunRecord.h"

#include "loop/Trainer.h"
#include "settings/SettingText.h"

#include "base/data/DType.h"
#include "data/DataDigests.h"
#include "files/Checksum.h"
#include "files/FileDigest.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

const char *getName(Command command) {
  switch (command) {
  case Command::Train:
    return "train";
  case Command::Eval:
    return "eval";
  case Command::Generate:
    return "generate";
  case Command::Apply:
    return "apply";
  case Command::Export:
    return "export";
  }
  return "?";
}

/// The checksum of the compiled code, or of the source for programs that titanc did not compile.
std::string describeCode(const Program &program) {
  return program.code.empty() ? fmt::format("source {:08x}", crc32c(program.source)) : program.code;
}

void addProgram(RankRecord &record, const Program &program) {
  record.add("program", program.name);
  record.add("compiled program", describeCode(program));
  record.add("parameters", std::to_string(program.parameters));
}

/// Without paths of input files, because machines may store copies elsewhere.
void addSettings(RankRecord &record, const Settings &settings) {
  for (const auto &[path, text] : settings.canonical())
    if (!namesFile(path))
      record.add(path, text);
}

std::string absolute(const std::string &path) {
  std::error_code error;
  fs::path whole = path.empty() ? fs::path() : fs::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

std::string formatOptional(const std::optional<int64_t> &number) {
  return number ? std::to_string(*number) : "";
}

void addOptions(RankRecord &record, const Program &program, const Options &options) {
  record.add("command", getName(options.command));
  const bool namesCheckpoint = options.resume != "auto" && options.resume != "none";
  if (options.command == Command::Train)
    record.add("--out", absolute(runDirectory(program, options)));
  record.add("--resume", namesCheckpoint ? absolute(options.resume) : options.resume);
  record.add("--epochs", fmt::format("{}", options.epochs));
  record.add("--stop-at", formatOptional(options.stopAt));
  record.add("--log-every", std::to_string(options.logEvery));
  record.add("--dry-run", options.dryRun ? "yes" : "no");
  record.add("--check-replicas", options.checkReplicas ? "yes" : "no");
  record.add("--costs", options.costs ? "yes" : "no");
  record.add("--profile", std::to_string(options.profile));
  record.add("--save-initial", absolute(options.saveInitial));
  record.add("--save-gradients", absolute(options.saveGradients));
  record.add("--prompt", options.prompt);
  record.add("--max-tokens", std::to_string(options.maxTokens));
  record.add("--temperature", fmt::format("{}", options.sampling.temperature));
  record.add("--top-k", std::to_string(options.sampling.topK));
  record.add("--top-p", fmt::format("{}", options.sampling.topP));
  record.add("--min-p", fmt::format("{}", options.sampling.minP));
  record.add("--repetition-penalty", fmt::format("{}", options.sampling.repetitionPenalty));
  record.add("--images", options.images);
  record.add("--hf", absolute(options.exportDirectory));
  record.add("--dcp", absolute(options.distributedDirectory));
  record.add("--peft", absolute(options.adapterDirectory));
}

/// Digests of data files, without their paths.
void addData(RankRecord &record, const Settings &settings) {
  for (const Identity::Input &input : digestData(settings))
    record.add(input.name, input.digest);
}

/// Variables that select kernels, whose results differ in the last bits.
void addVariables(RankRecord &record) {
  for (const char *variable : {"TITAN_F32", "TITAN_BF16", "TITAN_ATTENTION"}) {
    const char *value = std::getenv(variable);
    record.add(variable, value ? value : "");
  }
}

} // namespace

RankRecord makeRecord(const Program &program, const Settings &settings, const Options &options) {
  RankRecord record;
  addProgram(record, program);
  addSettings(record, settings);
  addOptions(record, program, options);
  addData(record, settings);
  for (const WeightSource &source : options.initFrom)
    record.add(source.prefix.empty() ? "--init-from" : "--init-from " + source.prefix,
               computeDigest(source.path));
  addVariables(record);
  return record;
}

} // namespace titan::rt
