// Checks the map against a model. Assigns every axis to a dimension of every parameter, input and
// constrained value, as `--dist-assign-shardings` will, and reports indivisible dimensions with
// their source locations.
#include "compiler/sema/mesh/Mesh.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <set>

namespace titan::sema {
namespace {

class MeshChecker {
public:
  MeshChecker(const Mesh &mesh, const Model &model, const Run &run, DiagnosticEngine &diags)
      : mesh(mesh), model(model), microbatches(run["accumulate"].integer),
        samples(run.dims.samples), diags(diags) {}

  void run() {
    for (const Parameter &parameter : model.parameters)
      for (DimId id : parameter.repeats)
        repeatDims.insert(model.dims[id].name);
    for (const Axis &axis : mesh.axes)
      if (axis.loc.isValid()) // the default map fits any model
        checkNames(axis);
    for (const Parameter &parameter : model.parameters)
      checkAxes(parameter.type.dims, "parameter `" + parameter.name + "`", parameter.loc,
                /*isParameter=*/true, parameter.name);
    for (const Input &input : model.inputs)
      checkPads(input);
    for (const Input &input : model.inputs)
      checkAxes(input.type.dims, "input `" + input.name + "`", input.loc, /*isParameter=*/false,
                input.name);
    checkConstraints(model.body);
    for (const Axis &axis : mesh.axes)
      if (axis.attentionLoc.isValid() && !splitsPositions(axis, model.body))
        diags
            .report(Code::OptionWithoutEffect, axis.attentionLoc,
                    "`attention` has no effect: axis `" + axis.name +
                        "` does not split positions of an attention in model `" + model.name + "`")
            .note(model.loc, "the model is declared here");
  }

private:
  void checkNames(const Axis &axis) {
    std::vector<std::string> known;
    for (DimId id = 0; id < model.dims.size(); ++id)
      known.push_back(model.dims[id].name);
    std::vector<std::string> names = axis.splits;
    names.insert(names.end(), axis.fallback.begin(), axis.fallback.end());
    for (size_t i = 0; i < names.size(); ++i) {
      if (repeatDims.count(names[i]))
        diags.report(Code::SplitsLayers, axis.splitLocs[i],
                     "axis `" + axis.name + "` cannot split `" + names[i] +
                         "`: the `repeat` over it is inside another one");
      else if (std::find(known.begin(), known.end(), names[i]) == known.end())
        reportUnknown(axis, names[i], axis.splitLocs[i], known);
    }
  }

  /// Whether the map splits the dimension along the axis, by its name or that of its origin.
  bool splits(const Axis &axis, DimId id) const {
    for (const std::string &name : {model.dims[id].name, model.dims[model.dims[id].origin].name})
      for (const auto *names : {&axis.splits, &axis.fallback})
        if (std::find(names->begin(), names->end(), name) != names->end())
          return true;
    return false;
  }

  /// Whether the axis splits a dimension along which an operation of the region attends.
  bool splitsPositions(const Axis &axis, const Region &region) const {
    return std::any_of(region.ops.begin(), region.ops.end(), [&](const Op &op) {
      if (op.kind == OpKind::Attention && splits(axis, op.dims[1]))
        return true;
      return std::any_of(op.body.begin(), op.body.end(),
                         [&](const Region &body) { return splitsPositions(axis, body); });
    });
  }

  /// Inputs cannot be padded, because the data have no elements for the padding.
  void checkPads(const Input &input) {
    for (const Axis &axis : mesh.axes)
      for (size_t i = 0; i < axis.pads.size(); ++i)
        if (hasDim(input.type.dims, axis.pads[i]) && padsReported.insert(axis.pads[i]).second)
          diags
              .report(Code::BadPadding, axis.padLocs[i],
                      "`" + axis.pads[i] + "` cannot be padded: it is a dimension of an input")
              .note(input.loc, "input `" + input.name + "` is declared here");
  }

  bool hasDim(const DimSet &dims, const std::string &name) const {
    return std::any_of(dims.begin(), dims.end(),
                       [&](DimId id) { return model.dims[id].name == name; });
  }

  void reportUnknown(const Axis &axis, const std::string &name, Location at,
                     const std::vector<std::string> &known) {
    Diagnostic &diag =
        diags.report(Code::UnknownSplit, at,
                     "axis `" + axis.name + "` splits `" + name + "`, but no tensor of model `" +
                         model.name + "` has such a dimension");
    diag.note(model.loc, "the model is declared here");
    suggestName(diag, at, name, known);
  }

  /// The size within a microbatch.
  int64_t getSize(DimId id) const {
    const Dim &dim = model.dims[id];
    return dim.name == samples ? dim.size / microbatches : dim.size;
  }

  void checkConstraints(const Region &region) {
    for (const Op &op : region.ops) {
      if (op.kind == OpKind::ShardingConstraint)
        checkAxes(model.values[op.results[0]].type.dims, "`" + op.name + "`", op.loc,
                  /*isParameter=*/false, op.names[0]);
      for (const Region &body : op.body)
        checkConstraints(body);
    }
  }

  /// Each axis shards the first dimension of its lists that the tensor has.
  void checkAxes(const DimSet &dims, const std::string &what, Location at, bool isParameter,
                 const std::string &name) {
    std::map<DimId, int64_t> degrees;
    for (const Axis &axis : mesh.axes) {
      if (axis.degree <= 1)
        continue;
      const MeshOverride *replacement = findOverride(mesh, axis, isParameter, name);
      static const std::vector<std::string> noFallback;
      std::optional<DimId> sharded;
      for (const auto *names : {replacement ? &*replacement->splits : &axis.splits,
                                replacement ? &noFallback : &axis.fallback})
        for (const std::string &split : *names)
          for (DimId id : dims)
            if (!sharded && model.dims[id].name == split && getSize(id) > 1)
              sharded = id;
      if (!sharded)
        continue;
      int64_t &degree = degrees.try_emplace(*sharded, 1).first->second;
      degree *= axis.degree;
      const int64_t size = paddedSize(mesh.axes, model.dims[*sharded].name, getSize(*sharded));
      if (size % degree)
        reportIndivisible(axis, *sharded, degree, what, at);
      else if (axis.isHeadTail && size % (2 * degree))
        reportBlocks(axis, *sharded, 2 * degree, what, at);
    }
  }

  /// In head-tail order each rank has two blocks of equal size.
  void reportBlocks(const Axis &axis, DimId id, int64_t blocks, const std::string &what,
                    Location at) {
    if (!reported.insert({axis.name, id}).second)
      return;
    const Dim &dim = model.dims[id];
    diags
        .report(Code::BadOrder, axis.orderLoc,
                "axis `" + axis.name + "` cuts `" + dim.name + "` into " + std::to_string(blocks) +
                    " blocks, which do not divide its " + std::to_string(getSize(id)) + " elements")
        .note(at, what + " has this dimension")
        .help("choose a size that " + std::to_string(blocks) + " divides, or remove the order");
  }

  void reportIndivisible(const Axis &axis, DimId id, int64_t degree, const std::string &what,
                         Location at) {
    if (!reported.insert({axis.name, id}).second)
      return;
    const Dim &dim = model.dims[id];
    // A wrong degree often divides none of the dimensions; this is one error.
    if (auto first = indivisible.find(axis.name); first != indivisible.end()) {
      first->second->note(at, "nor are the " + std::to_string(getSize(id)) + " elements of `" +
                                  dim.name + "`, which " + what + " has");
      return;
    }
    std::string by = degree == axis.degree ? std::to_string(degree)
                                           : std::to_string(degree) + " (with the axes before it)";
    bool isInput = std::any_of(model.inputs.begin(), model.inputs.end(), [&](const Input &input) {
      return hasDim(input.type.dims, dim.name);
    });
    std::string help = "degrees that divide it: " + listDivisors(getSize(id));
    if (!isInput)
      help += "; or add " + std::to_string(degree - getSize(id) % degree) +
              " padding elements: `{ pad = " + dim.name + " }` after the axis";
    Diagnostic &diag =
        diags.report(Code::Indivisible, axis.degreeLoc,
                     "axis `" + axis.name + "` splits `" + dim.name + "`, whose " +
                         std::to_string(getSize(id)) + " elements are not divisible by " + by);
    diag.note(at, what + " has this dimension").help(help);
    indivisible[axis.name] = &diag;
  }

  const Mesh &mesh;
  const Model &model;
  int64_t microbatches;
  const std::string &samples; ///< the dimension that microbatches divide
  DiagnosticEngine &diags;
  std::set<std::string> repeatDims; ///< the dimensions of repeats around parameters
  std::set<std::pair<std::string, DimId>> reported;
  std::map<std::string, Diagnostic *> indivisible; ///< the report for an axis
  std::set<std::string> padsReported;
};

} // namespace

void checkNames(const Mesh &mesh, const std::vector<const Model *> &models,
                DiagnosticEngine &diags) {
  std::vector<std::string> known;
  for (const Model *model : models)
    for (DimId id = 0; id < model->dims.size(); ++id)
      known.push_back(model->dims[id].name);
  for (const Axis &axis : mesh.axes) {
    std::vector<std::string> names = axis.splits;
    names.insert(names.end(), axis.fallback.begin(), axis.fallback.end());
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::find(known.begin(), known.end(), names[i]) != known.end())
        continue;
      Diagnostic &diag = diags.report(Code::UnknownSplit, axis.splitLocs[i],
                                      "axis `" + axis.name + "` splits `" + names[i] +
                                          "`, but no model of this file has such a dimension");
      suggestName(diag, axis.splitLocs[i], names[i], known);
    }
  }
}

void checkMesh(const Mesh &mesh, const Model &model, const Run &run, DiagnosticEngine &diags) {
  MeshChecker(mesh, model, run, diags).run();
}

void checkShardingOptions(const Run &run, const Mesh &mesh, DiagnosticEngine &diags) {
  auto findSet = [&](const char *path) -> const Option * {
    const Option &option = run.options.at(path);
    return option.loc.isValid() && !option.value.isError() ? &option : nullptr;
  };
  auto hasParams = [](const std::vector<std::string> &stored) {
    return std::find(stored.begin(), stored.end(), "params") != stored.end();
  };
  bool stores =
      std::any_of(mesh.axes.begin(), mesh.axes.end(),
                  [&](const Axis &axis) { return hasParams(axis.stores); }) ||
      std::any_of(mesh.overrides.begin(), mesh.overrides.end(), [&](const MeshOverride &entry) {
        return entry.stores && hasParams(*entry.stores);
      });
  const Option *reshard = findSet("sharding.reshard_after_forward");
  const Option *prefetch = findSet("sharding.prefetch");
  auto complain = [&](const Option &option, const std::string &path) {
    diags
        .report(Code::OptionWithoutEffect, option.loc,
                "`" + path + "` has no effect: no axis stores parameters in shards")
        .help("`stores params` on an axis stores parameters in shards");
  };
  if (!stores && reshard && !reshard->value.isWord("default"))
    complain(*reshard, "sharding.reshard_after_forward");
  if (!prefetch || prefetch->value.integer == 1)
    return;
  if (!stores)
    complain(*prefetch, "sharding.prefetch");
  else if (const Option &overlap = run.options.at("sharding.overlap");
           overlap.value.isWord("never"))
    diags
        .report(Code::OptionWithoutEffect, prefetch->loc,
                "`sharding.prefetch` has no effect: communication does not overlap")
        .note(overlap.loc, "`sharding.overlap` is `never`")
        .help("remove one of the two");
}

} // namespace titan::sema
