// `titanc info`: the memory of a rank.
#include "compiler/driver/RunSummary.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

std::string groupDigits(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

/// `contract wgrad, tiny.titan:33`.
static std::string printLocation(const plan::ProgramMemory &memory) {
  if (memory.file.empty())
    return memory.operation;
  llvm::StringRef name(memory.file);
  return llvm::formatv("{0}, {1}:{2}", memory.operation, name.substr(name.rfind('/') + 1),
                       memory.line);
}

/// A row per rank along the axis of a pipeline.
static void printRanks(llvm::raw_ostream &out, const RunSummary &summary) {
  if (summary.memoryOfStages.empty())
    return;
  out << "\nmemory along the pipeline in bytes, and bytes sent in a step:\n"
      << llvm::formatv("  {0,-6}{1,16}{2,16}{3,16}{4,16}{5,16}{6,18}\n", "rank", "parameters",
                       "optimizer state", "stashes", "while running", "total", "sent");
  for (auto [rank, report] : llvm::enumerate(summary.memoryOfStages))
    out << llvm::formatv("  {0,-6}{1,16}{2,16}{3,16}{4,16}{5,16}{6,18}\n", rank,
                         groupDigits(report.parameters), groupDigits(report.optimizer),
                         groupDigits(report.stashes), groupDigits(report.getTransient()),
                         groupDigits(report.getTraining()),
                         groupDigits(summary.traffic[rank].getBytesSent()));
}

void printMemory(llvm::raw_ostream &out, const RunSummary &summary) {
  const plan::MemoryReport &report = summary.memory;
  printRanks(out, summary);
  auto line = [&](llvm::StringRef what, int64_t bytes) {
    if (bytes)
      out << llvm::formatv("  {0,-28} {1,16}\n", what, groupDigits(bytes));
  };
  out << (summary.memoryOfStages.empty() ? "\nmemory per rank in bytes, ranks: "
                                         : "\nmemory of the rank with the largest total, ranks: ")
      << summary.ranks << ", ";
  if (summary.processor.isCuda)
    out << "a CUDA device each:\n";
  else
    out << summary.processor.threads << (summary.processor.threads == 1 ? " thread" : " threads")
        << " each:\n";
  // The contiguous storage of each block.
  auto blocks = [&](bool ofState) {
    for (const plan::StoredBlocks &stored : report.blocks)
      if (stored.isState == ofState)
        out << llvm::formatv("    {0,-26} {1,16}\n", stored.name + ", by block",
                             std::to_string(stored.blocks) + " x " + groupDigits(stored.bytes));
  };
  line("parameters", report.parameters);
  blocks(/*ofState=*/false);
  line("buffers", report.buffers);
  line("optimizer state", report.optimizer);
  blocks(/*ofState=*/true);
  line("learning rate, step", report.scalars);
  line("stashes of microbatches", report.stashes);
  line("sums, values of a step", report.stepValues);
  line("inputs of all microbatches", report.inputs);
  // Program functions run one at a time and reuse the same memory.
  for (const plan::ProgramMemory &memory : report.programs) {
    if (memory.bytes == 0)
      continue;
    line(llvm::formatv("while `{0}` runs", memory.program).str(), memory.bytes);
    line("  gradients", memory.gradients);
    line("  activations", memory.activations);
    line("  inputs and outputs", memory.inputsOutputs);
    line("  kernel scratch", memory.scratch);
    line("  unused", memory.getGaps());
    if (!memory.operation.empty())
      out << "    peak at " << printLocation(memory) << '\n';
  }
  line(summary.processor.isCuda ? "workspace of cuBLAS" : "GEMM pack buffers",
       report.gemmWorkspace);
  line("flash attention, at most", report.flashAttention);
  line("packed messages, at most", report.packing);
  if (report.getOnHost())
    line("total, on the device", report.getOnDevice());
  line("parameters, on the host", report.parametersOnHost);
  line("optimizer state, on the host", report.optimizerOnHost);
  line("total, in training", report.getTraining());
  line("checkpoint copies, at most", summary.checkpointStaging);
  line("caches, in generation", report.caches);
  line("caches of a batch of prompts", report.batchCaches);
  if (!summary.processor.isCuda) // the memory of CUDA's libraries is not known
    out << "and about " << groupDigits(report.libraries) << " for loaded libraries\n";
  if (!summary.uncached.empty())
    out << "\ngeneration recomputes the whole text for every token: " << summary.uncached << '\n';
}

llvm::json::Object memoryJson(const RunSummary &summary) {
  const plan::MemoryReport &report = summary.memory;
  llvm::json::Array programs;
  for (const plan::ProgramMemory &memory : report.programs)
    programs.push_back(llvm::json::Object{{"name", memory.program},
                                          {"bytes", memory.bytes},
                                          {"gradients", memory.gradients},
                                          {"activations", memory.activations},
                                          {"residuals", memory.residuals},
                                          {"inputs_outputs", memory.inputsOutputs},
                                          {"scratch", memory.scratch},
                                          {"unused", memory.getGaps()},
                                          {"operation", memory.operation},
                                          {"file", memory.file},
                                          {"line", memory.line}});
  llvm::json::Array blocks;
  for (const plan::StoredBlocks &stored : report.blocks)
    blocks.push_back(llvm::json::Object{
        {"name", stored.name}, {"blocks", stored.blocks}, {"bytes", stored.bytes}});
  llvm::json::Array stages;
  for (const plan::MemoryReport &stage : summary.memoryOfStages)
    stages.push_back(llvm::json::Object{{"parameters", stage.parameters},
                                        {"optimizer", stage.optimizer},
                                        {"stashes", stage.stashes},
                                        {"step_values", stage.stepValues},
                                        {"inputs", stage.inputs},
                                        {"transient", stage.getTransient()},
                                        {"packing", stage.packing},
                                        {"total", stage.getTraining()}});
  return llvm::json::Object{{"stages", std::move(stages)},
                            {"stashes", report.stashes},
                            {"step_values", report.stepValues},
                            {"inputs", report.inputs},
                            {"parameters", report.parameters},
                            {"buffers", report.buffers},
                            {"optimizer", report.optimizer},
                            {"scalars", report.scalars},
                            {"transient", report.getTransient()},
                            {"products", report.gemmWorkspace},
                            {"flash_attention", report.flashAttention},
                            {"packing", report.packing},
                            {"caches", report.caches},
                            {"batch_caches", report.batchCaches},
                            {"uncached", summary.uncached},
                            {"libraries", report.libraries},
                            {"programs", std::move(programs)},
                            {"by_block", std::move(blocks)},
                            {"threads", summary.processor.threads},
                            {"host", report.getOnHost()},
                            {"checkpoint_staging", summary.checkpointStaging},
                            {"total", report.getTraining()}};
}

} // namespace titan::driver
