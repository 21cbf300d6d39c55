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

  /// The dimension of a tensor that the axis shards: the first of `names` that takes its degree, or
  /// else the first one at all, which is an error. `degrees` are those of the axes before it.
  std::optional<DimId> findSharded(const Axis &axis, const std::vector<std::string> &names,
                                   const DimSet &dims, const std::map<DimId, int64_t> &degrees) {
    std::optional<DimId> first;
    for (const std::string &split : names)
      for (DimId id : dims) {
        if (model.dims[id].name != split || getSize(id) <= 1)
          continue;
        auto before = degrees.find(id);
        const int64_t shards = axis.degree * (before == degrees.end() ? 1 : before->second);
        if (paddedSize(mesh.axes, split, getSize(id)) % (axis.isHeadTail ? 2 * shards : shards) ==
            0)
          return id;
        if (!first)
          first = id;
      }
    return first;
  }

  /// Each axis shards the first dimension of its lists that the tensor has and that takes its
  /// degree.
  void checkAxes(const DimSet &dims, const std::string &what, Location at, bool isParameter,
                 const std::string &name) {
    std::map<DimId, int64_t> degrees;
    for (const Axis &axis : mesh.axes) {
      if (axis.degree <= 1)
        continue;
      const MeshOverride *replacement = findOverride(mesh, axis, isParameter, name);
      static const std::vector<std::string> noFallback;
      std::optional<DimId> sharded =
          findSharded(axis, replacement ? *replacement->splits : axis.splits, dims, degrees);
      if (!sharded)
        sharded = findSharded(axis, replacement ? noFallback : axis.fallback, dims, degrees);
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

namespace {

/// Reports settings of the group `sharding` that change nothing.
class ShardingOptionChecker {
public:
  ShardingOptionChecker(const Run &run, const Mesh &mesh, DiagnosticEngine &diags)
      : run(run), mesh(mesh), diags(diags) {}

  void check() {
    const bool storesParams = stores({"params"});
    if (isSet("sharding.reshard_after_forward", "default")) {
      if (!storesParams)
        reportUnstored("sharding.reshard_after_forward", "params", "parameters");
      else
        checkReshardInPipeline();
    }
    checkTime("sharding.gather", {"params"}, "parameters");
    checkTime("sharding.reduce", {"grads", "optimizer"}, "gradients");
    checkPrefetch(storesParams);
    checkChunks();
  }

private:
  const Option &get(const char *path) const { return run.options.at(path); }

  bool isSet(const char *path, const char *fallback) const {
    const Option &option = get(path);
    return option.loc.isValid() && !option.value.isError() && !option.value.isWord(fallback);
  }

  /// Whether an axis stores tensors of one of these kinds in shards.
  bool stores(const std::vector<std::string> &kinds) const {
    auto hasAny = [&](const std::vector<std::string> &stored) {
      return std::find_first_of(stored.begin(), stored.end(), kinds.begin(), kinds.end()) !=
             stored.end();
    };
    return std::any_of(mesh.axes.begin(), mesh.axes.end(),
                       [&](const Axis &axis) { return hasAny(axis.stores); }) ||
           std::any_of(
               mesh.overrides.begin(), mesh.overrides.end(),
               [&](const MeshOverride &entry) { return entry.stores && hasAny(*entry.stores); });
  }

  void reportUnstored(const char *path, const std::string &kind, const std::string &what) {
    diags
        .report(Code::OptionWithoutEffect, get(path).loc,
                "`" + std::string(path) + "` has no effect: no axis stores " + what + " in shards")
        .help("`stores " + kind + "` on an axis stores " + what + " in shards");
  }

  /// A setting that says when a collective runs needs the collective, and several microbatches.
  void checkTime(const char *path, const std::vector<std::string> &kinds, const std::string &what) {
    if (!isSet(path, "auto"))
      return;
    if (!stores(kinds))
      reportUnstored(path, kinds.front(), what);
    else if (!mesh.pipeline && run["accumulate"].isInt() && run["accumulate"].integer == 1)
      diags
          .report(Code::OptionWithoutEffect, get(path).loc,
                  "`" + std::string(path) + "` has no effect: the step has one microbatch")
          .help("`accumulate = n` computes the step in n microbatches");
  }

  /// The stages of a pipeline would keep the gathered parameters of every microbatch in flight.
  void checkReshardInPipeline() {
    const Option &reshard = get("sharding.reshard_after_forward");
    const Option &gather = get("sharding.gather");
    if (!mesh.pipeline || !reshard.value.isWord("never") || !gather.value.isWord("microbatch"))
      return;
    diags
        .report(Code::OptionWithoutEffect, reshard.loc,
                "`sharding.reshard_after_forward = never` has no effect: the pipeline gathers "
                "parameters in each forward and backward pass of a microbatch")
        .note(gather.loc, "`sharding.gather` is `microbatch`")
        .help("`gather = step` keeps one gathered copy for all microbatches");
  }

  void checkPrefetch(bool storesParams) {
    const Option &prefetch = get("sharding.prefetch");
    if (!prefetch.loc.isValid() || prefetch.value.isError() || prefetch.value.integer == 1)
      return;
    if (!storesParams)
      reportUnstored("sharding.prefetch", "params", "parameters");
    else
      checkOverlap("sharding.prefetch");
  }

  void checkChunks() {
    if (isSet("sharding.chunk_products", "never"))
      checkOverlap("sharding.chunk_products");
  }

  /// A setting for communication that overlaps with computation.
  void checkOverlap(const char *path) {
    const Option &overlap = get("sharding.overlap");
    if (overlap.value.isWord("never"))
      diags
          .report(Code::OptionWithoutEffect, get(path).loc,
                  "`" + std::string(path) + "` has no effect: communication does not overlap")
          .note(overlap.loc, "`sharding.overlap` is `never`")
          .help("remove one of the two");
  }

  const Run &run;
  const Mesh &mesh;
  DiagnosticEngine &diags;
};

} // namespace

void checkShardingOptions(const Run &run, const Mesh &mesh, DiagnosticEngine &diags) {
  ShardingOptionChecker(run, mesh, diags).check();
}

} // namespace titan::sema
