// `titanc info --by-line`: the costs of each source line.
#include "compiler/driver/RunSummary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

/// The text of the line; empty for costs without a line.
static std::string_view getText(const SourceManager &sources, const plan::LineCost &cost) {
  for (size_t i = 0; i < sources.bufferCount(); ++i)
    if (auto file = static_cast<FileId>(i); sources.name(file) == cost.file)
      return sources.line(file, cost.line);
  return {};
}

static std::string printLocation(const plan::LineCost &cost) {
  if (cost.file.empty())
    return "(no line)";
  llvm::StringRef name(cost.file);
  return (name.substr(name.rfind('/') + 1) + ":" + llvm::Twine(cost.line)).str();
}

void printLines(llvm::raw_ostream &out, const RunSummary &summary, const SourceManager &sources) {
  double flops = 0, bytes = 0;
  for (const plan::LineCost &cost : summary.lines) {
    flops += cost.flops;
    bytes += cost.bytesRead + cost.bytesWritten;
  }
  out << "\na step of one rank by source line, forward and backward (operations in millions, bytes "
         "read and written in MiB):\n";
  out << llvm::formatv("  {0,12} {1,6} {2,10} {3,10}  {4,-24} {5}\n", "operations", "%", "read",
                       "written", "line", "");
  constexpr double kMega = 1e6, kMebi = 1 << 20;
  for (const plan::LineCost &cost : summary.lines)
    out << llvm::formatv("  {0,12:f1} {1,6:f1} {2,10:f1} {3,10:f1}  {4,-24} {5}\n",
                         cost.flops / kMega, flops > 0 ? 100 * cost.flops / flops : 0.0,
                         cost.bytesRead / kMebi, cost.bytesWritten / kMebi, printLocation(cost),
                         llvm::StringRef(getText(sources, cost)).trim());
  out << llvm::formatv("  {0,12:f1} {1,6:f1} {2,10:f1} MiB in all, {3:f1} operations a byte\n",
                       flops / kMega, 100.0, bytes / kMebi, bytes > 0 ? flops / bytes : 0.0);
}

llvm::json::Array linesJson(const RunSummary &summary) {
  llvm::json::Array lines;
  for (const plan::LineCost &cost : summary.lines)
    lines.push_back(llvm::json::Object{{"file", cost.file},
                                       {"line", cost.line},
                                       {"flops", cost.flops},
                                       {"bytes_read", cost.bytesRead},
                                       {"bytes_written", cost.bytesWritten}});
  return lines;
}

} // namespace titan::driver
