// `titanc info --options`: every settable path with its type.
#include "compiler/driver/Commands.h"
#include "compiler/sema/check/Check.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

namespace titan::driver {
namespace {

/// A settable path: an option, an argument of the model, a degree, or a setting of parameters.
struct Path {
  std::string name, type;
  std::vector<std::string> choices;
  std::string initial; ///< empty: it must be set
  sema::Fixed fixed = sema::Fixed::Compile;
  std::string doc;
  std::vector<std::string> samples; ///< values that it may have
  std::string needs;                ///< another setting, without which this one has no effect
};

Path makePath(const std::string &prefix, const sema::OptionSpec &spec) {
  return {prefix + spec.path,
          sema::spelling(spec.type),
          spec.choices,
          spec.initial.isError() ? "" : spec.initial.print(),
          spec.fixed,
          spec.doc,
          sema::getSampleValues(spec),
          spec.needs};
}

/// Sample values for an argument, by its kind: it has no declared range.
std::vector<std::string> getSampleValues(const sema::Model::Argument &argument) {
  if (argument.kind == "integer")
    return {"3", "5"};
  if (argument.kind == "number")
    return {"0.25", "0.5"};
  if (argument.kind == "boolean")
    return {"true", "false"};
  if (argument.kind == "string")
    return {"\"a\"", "\"b\""};
  return {"none", "causal"};
}

/// The blocks that repeats of the model call.
void collectBlocks(const sema::Region &region, bool isRepeated, std::set<std::string> &blocks) {
  for (const sema::Op &op : region.ops) {
    if (isRepeated)
      blocks.insert(op.blocks.begin(), op.blocks.end());
    for (const sema::Region &body : op.body)
      collectBlocks(body, true, blocks);
  }
}

/// Adds arguments of the model, degrees of the axes, and settings of parameters by name.
void addOptionPaths(const sema::CheckedRun &run, std::vector<Path> &paths) {
  for (const sema::Model::Argument &argument : run.train.arguments)
    paths.push_back({"model." + argument.name,
                     argument.kind,
                     {},
                     argument.value,
                     sema::Fixed::Compile,
                     "argument of model " + run.modelName,
                     getSampleValues(argument),
                     ""});
  for (const sema::Axis &axis : run.mesh.declared)
    paths.push_back({"parallel." + axis.name,
                     "degree",
                     {},
                     axis.degree ? std::to_string(axis.degree) : "auto",
                     sema::Fixed::Compile,
                     "number of shards along the axis",
                     {"1", "2"},
                     ""});
  std::set<std::string> blocks;
  collectBlocks(run.train.body, false, blocks);
  for (Path &path : paths)
    if (path.samples.empty()) // an option that takes names of blocks
      for (const std::string &block : blocks)
        path.samples.insert(path.samples.end(), {block, "[" + block + "]"});
  if (run.train.parameters.empty())
    return;
  std::string pattern = ".\"" + run.train.parameters.back().name + "\".";
  for (sema::OptionSpec spec : sema::groupOptions()) {
    if (spec.type == sema::OptionType::Words) // names of losses
      for (const sema::Output &loss : run.train.losses)
        if (!loss.name.empty())
          spec.samples.push_back(loss.name);
    if (spec.type != sema::OptionType::Words || !spec.samples.empty())
      paths.push_back(makePath("optimizer.group" + pattern, spec));
  }
  const std::string section = "optimizer.";
  for (sema::OptionSpec spec : run.run.optimizer.options) {
    spec.path = spec.path.substr(section.size());
    spec.initial = {}; // the default is the option of the run's optimizer
    spec.doc = "instead of the optimizer's";
    paths.push_back(makePath("optimizer.group" + pattern, spec));
  }
  for (const sema::OptionSpec &spec : sema::ruleOptions())
    paths.push_back(makePath("parameters" + pattern, spec));
}

const char *spelling(sema::Fixed fixed) {
  return fixed == sema::Fixed::Compile ? "compile" : "launch";
}

void printText(const std::vector<Path> &paths) {
  for (const Path &path : paths)
    llvm::outs() << path.name << ": " << path.type
                 << (path.choices.empty() ? "" : " (" + llvm::join(path.choices, ", ") + ")")
                 << (path.initial.empty() ? "" : ", default " + path.initial) << ", fixed at "
                 << spelling(path.fixed) << " time\n    " << path.doc << '\n';
}

void printJson(const std::vector<Path> &paths) {
  llvm::json::Array all;
  for (const Path &path : paths) {
    llvm::json::Object one{{"path", path.name},
                           {"type", path.type},
                           {"choices", llvm::json::Array(path.choices)},
                           {"fixed", spelling(path.fixed)},
                           {"meaning", path.doc},
                           {"samples", llvm::json::Array(path.samples)}};
    if (!path.initial.empty())
      one["default"] = path.initial;
    if (!path.needs.empty())
      one["needs"] = path.needs;
    all.push_back(std::move(one));
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << '\n';
}

} // namespace

void printOptions(const sema::CheckedRun *run, bool json) {
  std::vector<Path> paths;
  for (const sema::OptionSpec &spec : run ? run->run.allOptions() : sema::optionTable())
    paths.push_back(makePath("", spec));
  if (run)
    addOptionPaths(*run, paths);
  json ? printJson(paths) : printText(paths);
}

} // namespace titan::driver
