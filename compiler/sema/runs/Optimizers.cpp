#include "compiler/sema/runs/Optimizers.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

const OptimizerDecl &getOptimizerDecl(const Symbol &symbol) {
  return *symbol.decl->as<OptimizerDecl>();
}

const std::string section = "optimizer.";

} // namespace

void dropForeignGroupOptions(Run &run) {
  for (Group &group : run.groups)
    std::erase_if(group.values,
                  [&](const auto &entry) { return !findGroupOption(run, group, entry.first); });
  std::erase_if(run.groups, [](const Group &group) {
    return group.values.empty() && !group.optimizer && !group.schedule;
  });
}

std::optional<OptionSpec> findGroupOption(const Run &run, const Group &group,
                                          const std::string &name) {
  std::vector<const std::vector<OptionSpec> *> tables = {&groupOptions(), &group.optimizerOptions};
  if (!group.optimizer)
    for (const Group &other : run.groups)
      tables.push_back(&other.optimizerOptions);
  for (const std::vector<OptionSpec> *table : tables)
    if (const OptionSpec *spec = findOption(*table, name))
      return *spec;
  const OptionSpec *shared =
      group.optimizer ? nullptr : findOption(run.optimizer.options, section + name);
  if (!shared)
    return std::nullopt;
  OptionSpec spec = *shared;
  spec.path = name;
  return spec;
}

std::vector<std::string> groupOptionNames(const Run &run, const Group &group) {
  std::vector<std::string> known = getNames(groupOptions());
  known.emplace_back("optimizer");
  known.emplace_back("schedule");
  for (const OptionSpec &spec : group.optimizer ? group.optimizerOptions : run.optimizer.options)
    known.push_back(group.optimizer ? spec.path : spec.path.substr(section.size()));
  return known;
}

Optimizer getOptimizer(const Run &run, const Parameter &parameter) {
  Optimizer chosen{run.optimizer.symbol, {}};
  for (const OptionSpec &spec : run.optimizer.options)
    chosen.options[spec.path.substr(section.size())] = run[spec.path];
  for (const Group &group : run.groups) {
    if (!matchesGlob(group.pattern, parameter.name))
      continue;
    if (group.optimizer) {
      chosen = {group.optimizer, {}};
      for (const OptionSpec &spec : group.optimizerOptions)
        chosen.options[spec.path] = spec.initial;
    }
    for (const auto &[name, option] : group.values)
      if (auto known = chosen.options.find(name); known != chosen.options.end())
        known->second = option.value;
  }
  return chosen;
}

void checkGroupOptions(const Run &run, const Model &model, DiagnosticEngine &diags) {
  for (const Group &group : run.groups) {
    std::set<std::string> known;
    for (const OptionSpec &spec : groupOptions())
      known.insert(spec.path);
    Symbol last;
    for (const Parameter &parameter : model.parameters)
      if (matchesGlob(group.pattern, parameter.name)) {
        Optimizer chosen = getOptimizer(run, parameter);
        last = chosen.symbol;
        for (const auto &[name, value] : chosen.options)
          known.insert(name);
      }
    for (const auto &[name, option] : group.values)
      if (last && !known.count(name))
        diags
            .report(Code::OptionWithoutEffect, option.nameLoc,
                    "`" + name + "` has no effect on the parameters of this group")
            .note(getOptimizerDecl(last).name.loc,
                  "their optimizer is `" + getOptimizerDecl(last).name.text + "`");
  }
}

namespace {

/// One function updates all parameters with equal keys.
struct UpdateKey {
  const Decl *optimizer;
  std::map<std::string, Value> options;
  DimSet dims;                      ///< of the parameter; of a batch of matrices, those of one
  std::optional<MatrixDims> matrix; ///< only for optimizers of matrices

  bool operator==(const UpdateKey &) const = default;
};

bool takesMatrix(const OptimizerDecl &decl) {
  return std::count_if(decl.formals.begin(), decl.formals.end(),
                       [](const Formal &formal) { return formal.kind == FormalKind::Over; }) == 2;
}

/// The element type of the update: the widest stored type, at least f32.
DType updateType(const Run &run) {
  DType widest = DType::F32;
  for (const char *path : {"precision.params", "precision.reduce", "precision.optimizer"})
    widest = wider(widest, *floatCalled(run[path].print()));
  return widest;
}

} // namespace

Updates elaborateOptimizers(const Run &run, const Model &model, const Library &library,
                            DiagnosticEngine &diags) {
  Updates updates;
  updates.functionOf.resize(model.parameters.size());
  updates.matricesOf.resize(model.parameters.size());
  std::vector<UpdateKey> keys;   // of the functions, in order
  std::set<const Decl *> failed; // an error in an optimizer is reported once
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const Parameter &parameter = model.parameters[i];
    if (parameter.frozen || parameter.isBuffer)
      continue;
    Optimizer optimizer = getOptimizer(run, parameter);
    if (!optimizer.symbol) {
      diags.report(Code::UnknownDeclaration, run.loc,
                   "the standard library, which declares the optimizer of run `" + run.name +
                       "`, was not found");
      return updates;
    }
    if (failed.count(optimizer.symbol.decl))
      continue;
    UpdateKey key{optimizer.symbol.decl, optimizer.options, parameter.type.dims, {}};
    MatrixUses uses;
    if (takesMatrix(getOptimizerDecl(optimizer.symbol)))
      uses = findMatrixUses(model, static_cast<uint32_t>(i));
    if (uses.roles) { // the optimizer sees one matrix; all have the same update
      key.matrix = uses.roles->matrix;
      key.dims = parameter.type.dims.without(uses.roles->batch);
    }
    updates.matricesOf[i] = uses.roles;
    auto known = std::find(keys.begin(), keys.end(), key);
    updates.functionOf[i] = static_cast<size_t>(known - keys.begin());
    if (known != keys.end())
      continue;
    keys.push_back(key);
    Updates::Function &function = updates.functions.emplace_back();
    function.model.dims = model.dims;
    const std::vector<Formal> &formals = getOptimizerDecl(optimizer.symbol).formals;
    function.argumentCount =
        static_cast<size_t>(std::count_if(formals.begin(), formals.end(), [](const Formal &formal) {
          return formal.kind == FormalKind::Value;
        }));
    OptimizerRequest request{optimizer.options, {updateType(run), key.dims},
                             key.matrix,        uses.obstacles,
                             parameter.loc,     parameter.name};
    if (!elaborateOptimizer(optimizer.symbol, request, library, diags, function.model))
      failed.insert(optimizer.symbol.decl);
  }
  return updates;
}

} // namespace titan::sema
