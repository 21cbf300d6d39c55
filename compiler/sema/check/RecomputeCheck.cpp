// Checks the `recompute` options of a run: contradictions, and names and numbers that the model
// lacks.
#include "compiler/sema/check/Check.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <set>

namespace titan::sema {

/// Reports several options that select recomputed layers or saved results.
void checkRecomputeConflicts(const Run &run, DiagnosticEngine &diags) {
  // An option with its default value selects nothing.
  auto isSet = [&](const char *path) {
    const Option &option = run.options.at(path);
    return option.loc.isValid() && !(option.value == findOption(path)->initial);
  };
  const char *first = nullptr;
  for (const char *path : {"recompute", "recompute.every", "recompute.layers"}) {
    if (!isSet(path))
      continue;
    if (first)
      diags
          .report(Code::OptionWithoutEffect, run.options.at(path).loc,
                  "`" + std::string(path) + "` cannot be combined with `" + first + "`")
          .note(run.options.at(first).loc, "this already selects the recomputed layers");
    first = path;
  }
  for (const std::string path : {"recompute.save", "recompute.blocks"})
    if (isSet("recompute") && isSet(path.c_str()))
      diags
          .report(Code::OptionWithoutEffect, run.options.at(path).loc,
                  "`" + path + "` cannot be combined with `recompute`")
          .note(run.options.at("recompute").loc, "this already selects the saved results")
          .help("`" + path + "` alone means all layers");
}

namespace {

/// Collects the names of called blocks, inside and outside of repeats.
void collectBlocks(const Region &region, bool isRepeated, std::set<std::string> &inside,
                   std::set<std::string> &outside) {
  for (const Op &op : region.ops) {
    (isRepeated ? inside : outside).insert(op.blocks.begin(), op.blocks.end());
    for (const Region &body : op.body)
      collectBlocks(body, /*isRepeated=*/true, inside, outside);
  }
}

void checkBlocks(const CheckedRun &checked, DiagnosticEngine &diags) {
  std::set<std::string> inside, outside;
  collectBlocks(checked.train.body, /*isRepeated=*/false, inside, outside);
  std::vector<std::string> known(inside.begin(), inside.end());
  for (const Value &block : checked.run["recompute.blocks"].elements) {
    if (inside.count(block.text))
      continue;
    Diagnostic &diag = diags.report(
        Code::UnknownBlock, checked.run.options.at("recompute.blocks").loc,
        outside.count(block.text) ? "block `" + block.text + "` is not called in a `repeat`"
                                  : "the model calls no block `" + block.text + "`");
    diag.note(checked.train.loc, "the model is declared here");
    if (std::string near = nearestName(block.text, known); !near.empty())
      diag.help("the nearest block is `" + near + "`");
    else
      diag.help("its repeats call " + listNames(known));
  }
}

} // namespace

void checkRecompute(const CheckedRun &checked, DiagnosticEngine &diags) {
  int64_t layers = 0;
  for (const Op &op : checked.train.body.ops)
    if (op.kind == OpKind::Repeat)
      layers = std::max(layers, checked.train.dims[op.dims[0]].size);
  auto report = [&](const char *path, std::string message) {
    diags.report(Code::OptionWithoutEffect, checked.run.options.at(path).loc, std::move(message))
        .note(checked.train.loc, "the model is declared here");
  };
  std::string longest = layers == 1 ? "1 layer" : std::to_string(layers) + " layers";
  for (const char *path :
       {"recompute", "recompute.every", "recompute.layers", "recompute.save", "recompute.blocks"}) {
    const Option &option = checked.run.options.at(path);
    bool isOff = option.value.isWord("none") || (option.value.isInt() && option.value.integer == 0);
    if (option.loc.isValid() && !isOff && layers == 0)
      report(path, "`" + std::string(path) + "` has no effect: the model has no `repeat`");
  }
  if (layers == 0)
    return;
  if (checked.run["recompute.every"].integer > layers)
    report("recompute.every", "`recompute.every` has no effect: the longest repeat has " + longest);
  std::set<int64_t> seen;
  for (const Value &layer : checked.run["recompute.layers"].elements) {
    if (layer.integer >= layers)
      report("recompute.layers", "there is no layer " + layer.print() +
                                     ": the longest repeat has " + longest + ", counted from 0");
    else if (!seen.insert(layer.integer).second)
      report("recompute.layers", "`recompute.layers` names layer " + layer.print() + " twice");
  }
  checkBlocks(checked, diags);
}

} // namespace titan::sema
