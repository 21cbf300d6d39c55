// The text output of `titanc info`.
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"
#include "compiler/sema/check/Patterns.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace titan::driver {
namespace {

using sema::CheckedRun;
using Side = TextTable::Side;

void printBalance(const std::vector<plan::AttentionBalance> &attention) {
  if (attention.empty())
    return;
  llvm::outs() << "\nattention, largest over mean work of a rank:\n";
  TextTable table({Side::Left, Side::Left, Side::Right});
  for (const plan::AttentionBalance &entry : attention)
    table.add({entry.value.print(), "over " + llvm::join(entry.axes, ", "),
               llvm::formatv("{0:F3}", entry.balance).str()});
  table.print(llvm::outs());
}

void printCosts(const RunSummary &summary) {
  llvm::outs() << "\nper token: " << groupDigits(std::llround(summary.flopsPerToken))
               << " floating-point operations, executed forward and backward\n           "
               << groupDigits(std::llround(summary.modelFlopsPerToken))
               << " by TorchTitan's formula, for comparison\n";
  if (summary.pipeline)
    printStages(llvm::outs(), *summary.pipeline);
  printMemory(llvm::outs(), summary);
  if (summary.ranks == 1)
    return;
  const size_t rank = summary.findBusiestRank();
  if (summary.traffic.size() == 1)
    llvm::outs() << "\ncollectives of a step:\n";
  else
    llvm::outs() << "\ncollectives and messages of a step, of rank " << rank
                 << " along the pipeline, which sends most:\n";
  dist::printCollectives(llvm::outs(), summary.traffic[rank].uses);
  printBalance(summary.attention);
}

/// Uses the names of overrides; parameters first.
void printLayouts(const RunSummary &summary) {
  llvm::outs() << "\nlayouts (dimension / axis that shards it, over the axes that store it in "
                  "shards):\n";
  TextTable table({Side::Left, Side::Left, Side::Left});
  for (const plan::TensorLayout &layout : summary.sharding.layouts)
    table.add({layout.isParameter ? "parameters" : "values", layout.name, layout.print()});
  table.print(llvm::outs());
}

/// Decisions by the order of dimensions in the map.
void printConflicts(const std::vector<dist::ConflictUse> &conflicts) {
  if (conflicts.empty())
    return;
  llvm::outs()
      << "\nconflicts: dimensions that compete for an axis, resolved by the order of the map:\n";
  for (const dist::ConflictUse &conflict : conflicts)
    llvm::outs() << "  " << conflict.print() << '\n';
}

/// The parameters, or the buffers.
void printParameters(const sema::Model &model, bool buffers) {
  TextTable table({Side::Left, Side::Right, Side::Left});
  for (const sema::Parameter &parameter : model.parameters) {
    if (parameter.isBuffer != buffers)
      continue;
    std::string dims;
    auto add = [&](sema::DimId id, int64_t size) {
      dims += (dims.empty() ? "" : ", ") + model.dims[id].name + " = " + std::to_string(size);
    };
    for (size_t i = 0; i < parameter.repeats.size(); ++i)
      add(parameter.repeats[i], static_cast<int64_t>(parameter.iterations[i].size()));
    for (sema::DimId id : parameter.type.dims)
      add(id, model.dims[id].size);
    table.add({makePublicName(parameter), groupDigits(model.elements(parameter)),
               std::string(sema::spelling(parameter.type.dtype)) + "[" + dims + "]" +
                   (parameter.frozen ? ", frozen" : "")});
  }
  table.print(llvm::outs());
}

void printPatterns(const CheckedRun &run) {
  std::vector<sema::PatternUse> uses = sema::listPatterns(run);
  if (uses.empty())
    return;
  llvm::outs() << "\npatterns and their matches:\n";
  TextTable table({Side::Left, Side::Left, Side::Left});
  for (const sema::PatternUse &use : uses)
    table.add({use.section, "\"" + use.pattern + "\"", llvm::join(use.matches, ", ")});
  table.print(llvm::outs());
}

void printSettings(const sema::Run &run) {
  llvm::outs() << "\nsettings (launch: may be changed when the program starts):\n";
  TextTable table({Side::Left, Side::Left, Side::Left});
  for (const sema::OptionSpec &spec : run.allOptions())
    table.add({std::string(spec.path), run[spec.path].print(),
               spec.fixed == sema::Fixed::Compile ? "compile" : "launch"});
  table.print(llvm::outs());
}

} // namespace

void printText(const CheckedRun &run, const RunSummary &summary, bool allGroups) {
  const sema::Model &model = run.train;
  if (summary.prediction)
    printPrediction(llvm::outs(), summary);
  llvm::outs() << "model " << run.modelName << ": " << groupDigits(model.parameterCount())
               << " parameters\n\n";
  printParameters(model, /*buffers=*/false);
  if (int64_t elements = model.parameterCount(/*buffers=*/true)) {
    llvm::outs() << "\nbuffers, updated by a step without a gradient: " << groupDigits(elements)
                 << " numbers\n";
    printParameters(model, /*buffers=*/true);
  }
  printMatrices(llvm::outs(), run);
  printPatterns(run);
  llvm::outs() << "\nmesh, outer to inner:\n";
  printMesh(llvm::outs(), run.mesh, summary.mesh, summary.ranks);
  if (allGroups)
    printAllGroups(llvm::outs(), summary.mesh, summary.ranks);
  for (const auto &[dim, size] : findPaddedDims(run))
    llvm::outs() << "  " << dim->name << " = " << dim->size << " is padded to " << size << '\n';
  printLayouts(summary);
  printConflicts(summary.sharding.conflicts);
  printCosts(summary);
  printSettings(run.run);
}

} // namespace titan::driver
