// The machine as named axes, outer to inner, and what each axis splits and stores: the checked form
// of a `parallel` declaration.
#ifndef TITAN_COMPILER_SEMA_MESH_H
#define TITAN_COMPILER_SEMA_MESH_H

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

struct Axis {
  std::string name;
  int64_t degree = 0; ///< 0: auto, fixed at launch
  std::vector<std::string> splits, fallback, stores;
  std::vector<std::string> pads; ///< of what it splits, what is made longer where it must be
  Location loc;
  Location degreeLoc;
  std::vector<Location> splitLocs; ///< of `splits`, then of `fallback`
  std::vector<Location> padLocs;
};

/// Whether the map makes a dimension longer where the axes that split it do not divide it.
bool isPadded(const std::vector<Axis> &axes, const std::string &dim);
/// How long the map makes a dimension of this size: itself where nothing pads it.
int64_t paddedSize(const std::vector<Axis> &axes, const std::string &dim, int64_t size);

/// One line of `parameters "*norm" { shard stores none }`: what an axis does to the tensors that
/// match, instead of what it does to all. Of several for one tensor the last decides.
struct MeshOverride {
  bool ofParameters = true; ///< else of values
  std::string pattern;
  Location patternLoc;
  std::string axis;
  std::optional<std::vector<std::string>> splits, stores; ///< what is absent is as the axis says
  std::vector<Location> splitLocs;
  Location loc;
  std::vector<std::string> tensors; ///< that match; filled by `matchOverrides`
};

struct Mesh {
  std::vector<Axis> axes;
  std::vector<Axis> declared; ///< as they were before `splitAxes`: what settings name
  std::vector<MeshOverride> overrides;
};

/// What is written of an axis, checked.
struct AxisLists {
  std::vector<std::string> splits, fallback, stores;
  std::vector<Location> splitLocs; ///< of `splits`, then of `fallback`
};
AxisLists readUse(const syntax::AxisUse &use, DiagnosticEngine &diags);

/// Adds to the mesh what the map says of some tensors alone.
void readOverrides(const std::vector<syntax::OverrideDecl> &decls, Mesh &mesh,
                   DiagnosticEngine &diags);
/// Finds the tensors of the models that each override speaks of. Reports what matches nothing, or
/// changes nothing.
void matchOverrides(Mesh &mesh, const std::vector<const Model *> &models, DiagnosticEngine &diags);
/// The override that says what the axis splits of a tensor; null where the axis's own lists do.
const MeshOverride *findOverride(const Mesh &mesh, const Axis &axis, bool ofParameters,
                                 const std::string &name);

/// Without a `parallel` declaration: one axis `shard = auto` that splits the batch and stores all,
/// so that one program runs on one process or on many. Reports what is wrong; nothing then.
std::optional<Mesh> resolveMesh(const Run &run, const Library &library, DiagnosticEngine &diags);

/// Parts axes that are larger than the first dimension they split: `tp = 8 splits kv_heads, group`
/// on two key heads becomes `tp.kv_heads = 2` and `tp.group = 4`.
void splitAxes(Mesh &mesh, const Model &model);

/// Checks the map against a model: names, divisibility (of the batch, that of one of `microbatches`
/// parts), the layers.
void checkMesh(const Mesh &mesh, const Model &model, int64_t microbatches, DiagnosticEngine &diags);
/// Checks that each name of a map that no run uses is a dimension of one of the models at hand.
void checkNames(const Mesh &mesh, const std::vector<const Model *> &models,
                DiagnosticEngine &diags);

/// Settings of `sharding` that this mesh gives nothing to do.
void checkShardingOptions(const Run &run, const Mesh &mesh, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
