// `titanc info --machine`: whether a run fits a machine, and the predicted time of its step.
#include "compiler/driver/PredictionText.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace titan::driver {
namespace {

using Side = TextTable::Side;

/// Longest first.
std::vector<std::pair<std::string, double>> sortComponents(const StepTime &time) {
  std::vector<std::pair<std::string, double>> components = listComponents(time);
  llvm::stable_sort(components, [](const auto &a, const auto &b) { return a.second > b.second; });
  llvm::erase_if(components, [](const auto &component) { return component.second <= 0; });
  return components;
}

/// The longest lines, at most `count`.
std::vector<std::pair<std::pair<std::string, int64_t>, double>> listLines(const StepTime &time,
                                                                          size_t count) {
  std::vector<std::pair<std::pair<std::string, int64_t>, double>> lines(time.lines.begin(),
                                                                        time.lines.end());
  llvm::stable_sort(lines, [](const auto &a, const auto &b) { return a.second > b.second; });
  lines.resize(std::min(lines.size(), count));
  return lines;
}

void printLongestLines(llvm::raw_ostream &out, const StepTime &time) {
  out << "  longest lines:\n";
  TextTable table({Side::Right, Side::Right, Side::Left});
  for (const auto &[line, seconds] : listLines(time, 8))
    table.add({"  " + printSeconds(seconds), printPercent(seconds / time.seconds),
               line.first.empty() ? "without a source line, such as the optimizer's update"
                                  : llvm::sys::path::filename(line.first).str() + ":" +
                                        std::to_string(line.second)});
  table.print(out);
}

} // namespace

void printPrediction(llvm::raw_ostream &out, const RunSummary &summary) {
  const Prediction &prediction = *summary.prediction;
  const StepTime &time = prediction.time;
  const double memory = prediction.memory,
               needed = static_cast<double>(summary.memory.getOnDevice());
  out << "on " << prediction.machine.name << ":\n"
      << (needed <= memory ? "  fits: " : "  does not fit: ") << printGiB(needed) << " of "
      << printGiB(memory) << " per rank (" << printPercent(needed / memory) << ")\n"
      << "  a step takes " << printSeconds(time.seconds) << ": "
      << groupDigits(std::llround(time.getTokensPerSecond(summary.step))) << " tokens/s, MFU "
      << printPercent(prediction.utilisation.model)
      << " (executed: " << printPercent(prediction.utilisation.hardware) << ")\n";
  TextTable table({Side::Right, Side::Right, Side::Left});
  for (const auto &[what, seconds] : sortComponents(time))
    table.add({"  " + printSeconds(seconds), printPercent(seconds / time.seconds), what});
  table.print(out);
  printLongestLines(out, time);
  out << '\n';
}

llvm::json::Object predictionJson(const RunSummary &summary) {
  const Prediction &prediction = *summary.prediction;
  const StepTime &time = prediction.time;
  llvm::json::Object exposed;
  for (const auto &[axes, seconds] : time.exposed)
    exposed[axes] = seconds;
  llvm::json::Array lines;
  for (const auto &[line, seconds] : listLines(time, time.lines.size()))
    lines.push_back(
        llvm::json::Object{{"file", line.first}, {"line", line.second}, {"seconds", seconds}});
  return llvm::json::Object{
      {"machine", prediction.machine.name},
      {"fits", static_cast<double>(summary.memory.getOnDevice()) <= prediction.memory},
      {"memory", prediction.memory},
      {"step_seconds", time.seconds},
      {"tokens_per_second", time.getTokensPerSecond(summary.step)},
      {"mfu", prediction.utilisation.model},
      {"hfu", prediction.utilisation.hardware},
      {"seconds", llvm::json::Object{{"products", time.products},
                                     {"attention", time.attention},
                                     {"other_kernels", time.loops},
                                     {"exposed", std::move(exposed)},
                                     {"bubble", time.bubble}}},
      {"lines", std::move(lines)}};
}

} // namespace titan::driver
