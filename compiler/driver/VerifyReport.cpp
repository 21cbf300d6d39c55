// Prints the results of `titanc verify`, as text and as JSON.
#include "base/text/Counted.h"
#include "compiler/driver/TextTable.h"
#include "compiler/driver/Verification.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {
namespace {

using Side = TextTable::Side;

std::string formatDeviation(double value) {
  return value == 0 ? "0" : llvm::formatv("{0:e1}", value).str();
}

/// "file.titan:12".
std::string formatLocation(const Location &location, const SourceManager &sources) {
  return location.isValid()
             ? std::string(sources.name(location.file)) + ":" + std::to_string(location.line)
             : std::string();
}

std::vector<ResultKind> getResultKinds(const Verification &verified) {
  std::vector<ResultKind> kinds;
  for (size_t kind = 0; kind < numResultKinds; ++kind)
    if (verified.worst[kind].count > 0)
      kinds.push_back(static_cast<ResultKind>(kind));
  return kinds;
}

void printShrinkages(const ShrunkRun &shrunk) {
  if (shrunk.shrinkages.empty())
    return;
  llvm::outs() << "\nsmaller than in the file:\n";
  TextTable table({Side::Left, Side::Right, Side::Left});
  for (const Shrinkage &one : shrunk.shrinkages)
    table.add({one.setting, one.before, "-> " + one.after});
  table.print(llvm::outs());
}

} // namespace

void printVerification(const sema::CheckedRun &run, const ShrunkRun &shrunk,
                       const Verification &verified, const SourceManager &sources) {
  llvm::outs() << "run " << run.run.name
               << ", interpreted in float64: " << counted(verified.steps, "step") << " on "
               << counted(verified.devices, "virtual device") << " and on one\n";
  printShrinkages(shrunk);
  llvm::outs() << "\nlargest relative deviations:\n";
  TextTable table({Side::Left, Side::Right, Side::Right, Side::Left, Side::Left});
  table.add({"", "compared", "deviation", "in", "of"});
  for (ResultKind kind : getResultKinds(verified)) {
    const WorstDeviation &worst = verified[kind];
    table.add({getName(kind), std::to_string(worst.count), formatDeviation(worst.deviation.value),
               worst.deviation.role.name, formatLocation(worst.location, sources)});
  }
  table.print(llvm::outs());
  if (!verified.undecided.empty()) {
    llvm::outs() << "\nrounding decides these results of step " << verified.steps
                 << ", which are not compared; nor are later steps:\n";
    for (const std::string &result : verified.undecided)
      llvm::outs() << "  " << result << '\n';
  }
  if (!verified.fault)
    llvm::outs() << "\nthe parallel program computes what one device computes\n";
}

void printVerificationJson(const sema::CheckedRun &run, const ShrunkRun &shrunk,
                           const Verification &verified, const SourceManager &sources) {
  llvm::json::Object changes, deviations;
  for (const Shrinkage &one : shrunk.shrinkages)
    changes[one.setting] = llvm::json::Object{{"before", one.before}, {"after", one.after}};
  for (ResultKind kind : getResultKinds(verified)) {
    const WorstDeviation &worst = verified[kind];
    llvm::json::Object entry{{"compared", worst.count},
                             {"deviation", worst.deviation.value},
                             {"limit", getLimit(kind)},
                             {"tensor", worst.deviation.role.name},
                             {"step", worst.step}};
    if (worst.location.isValid()) {
      entry["file"] = std::string(sources.name(worst.location.file));
      entry["line"] = worst.location.line;
    }
    deviations[getName(kind)] = std::move(entry);
  }
  llvm::json::Object all{{"run", run.run.name},          {"devices", verified.devices},
                         {"steps", verified.steps},      {"equal", !verified.fault},
                         {"shrunk", std::move(changes)}, {"deviations", std::move(deviations)}};
  if (!verified.undecided.empty())
    all["undecided"] = llvm::json::Array(verified.undecided);
  if (verified.fault)
    all["fault"] =
        llvm::json::Object{{"message", verified.fault->message}, {"phase", verified.fault->phase}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << '\n';
}

} // namespace titan::driver
