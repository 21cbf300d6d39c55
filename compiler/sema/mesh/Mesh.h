// The checked form of a `parallel` declaration: the mesh axes, outer to inner, with the dimensions
// that each axis shards and the state that it stores in shards.
#pragma once

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// How an axis that splits positions computes attention.
enum class AttentionMethod { Gather, Ring, AllToAll, Auto };

struct Axis {
  std::string name;
  int64_t degree = 0; ///< 0: auto, fixed at launch
  std::vector<std::string> splits, fallback, stores;
  std::vector<std::string> pads; ///< the dimensions of `splits` that may be padded
  int64_t stages = 1;            ///< of each rank, if the axis is the pipeline's
  bool isHeadTail = false;       ///< `order = headtail`: a rank has a block and its mirror image
  AttentionMethod attention = AttentionMethod::Gather;
  Location loc;
  Location degreeLoc;
  std::vector<Location> splitLocs; ///< of `splits`, then of `fallback`
  std::vector<Location> padLocs;
  Location stagesLoc;    ///< invalid: not written
  Location orderLoc;     ///< of the value of `order`
  Location attentionLoc; ///< of the value of `attention`; invalid: not written
};

/// Whether the map pads a dimension if its axes do not divide it.
bool isPadded(const std::vector<Axis> &axes, const std::string &dim);
/// The padded size of a dimension; the size itself without padding.
int64_t paddedSize(const std::vector<Axis> &axes, const std::string &dim, int64_t size);

/// One line of `parameters "*norm" { shard stores none }`: overrides the lists of an axis for the
/// matching tensors. If several match one tensor, the last one decides.
struct MeshOverride {
  bool ofParameters = true; ///< else of values
  std::string pattern;
  Location patternLoc;
  std::string axis;
  std::optional<std::vector<std::string>> splits, stores; ///< absent: as the axis declares
  std::vector<Location> splitLocs;
  Location loc;
  std::vector<std::string> tensors; ///< the matching tensors; filled by `matchOverrides`
};

/// The stages into which a `repeat` of the model is cut, at least two.
struct Pipeline {
  std::string axis, dim; ///< the ranks along `axis` execute stages of the repeat over `dim`
  std::vector<int64_t> layersPerStage;
  bool isByCost;        ///< the run does not state the layers, so that the compiler may move them
  std::string schedule; ///< a name, or a table of computation (base/schedule/Source.h)
  int64_t microbatches = 1;
  Location loc; ///< of the axis
};

/// `nodes = 4 of 8 { memory = 80 }`.
struct Nodes {
  int64_t count, ranksPerNode;
  double memory; ///< GiB of the device of a rank; 0: not written
  Location loc;
  Location memoryLoc;
};

struct Mesh {
  std::vector<Axis> axes;
  std::vector<Axis> declared; ///< before `splitAxes`; settings use these names
  std::vector<MeshOverride> overrides;
  std::optional<Pipeline> pipeline; ///< set by `resolvePipeline`
  std::string layersAxis; ///< the axis that splits layers, even into one stage; empty: none
  std::optional<Nodes> nodes;
};

/// The checked lists of one axis.
struct AxisLists {
  std::vector<std::string> splits, fallback, stores;
  std::vector<Location> splitLocs; ///< of `splits`, then of `fallback`
};
/// Reports dimensions that occur twice and unknown states.
AxisLists readUse(const syntax::AxisUse &use, DiagnosticEngine &diags);

/// Adds the overrides of the map to the mesh.
void readOverrides(const std::vector<syntax::OverrideDecl> &decls, Mesh &mesh,
                   DiagnosticEngine &diags);
/// Finds the matching tensors of each override. Reports patterns without matches and overrides
/// without effect.
void matchOverrides(Mesh &mesh, const std::vector<const Model *> &models, DiagnosticEngine &diags);
/// The override of the axis for a tensor; null if there is none.
const MeshOverride *findOverride(const Mesh &mesh, const Axis &axis, bool ofParameters,
                                 const std::string &name);

/// Without a `parallel` declaration: one axis `shard = auto` that splits the batch and stores all
/// state, so one program runs on one process or on many. Returns nothing after a report.
std::optional<Mesh> resolveMesh(const Run &run, const Library &library, DiagnosticEngine &diags);

/// Splits axes that are larger than the first dimension that they shard: `tp = 8 splits kv_heads,
/// group` on two key heads becomes `tp.kv_heads = 2` and `tp.group = 4`.
void splitAxes(Mesh &mesh, const Model &model);

/// Checks the map against the model of a run: names of dimensions, divisibility (of samples: those
/// of a microbatch), and dimensions of repeats, which no axis shards.
void checkMesh(const Mesh &mesh, const Model &model, const Run &run, DiagnosticEngine &diags);
/// Checks that each name in an unused map is a dimension of one of the models.
void checkNames(const Mesh &mesh, const std::vector<const Model *> &models,
                DiagnosticEngine &diags);

/// Reports settings of `sharding` without effect on this mesh.
void checkShardingOptions(const Run &run, const Mesh &mesh, DiagnosticEngine &diags);

} // namespace titan::sema
