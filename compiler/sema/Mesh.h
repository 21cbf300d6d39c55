// The machine as named axes, outer to inner, and what each axis splits and stores: the checked form
// of a `parallel` declaration.
#ifndef TITAN_COMPILER_SEMA_MESH_H
#define TITAN_COMPILER_SEMA_MESH_H

#include "compiler/sema/Run.h"

namespace titan::sema {

struct Axis {
  std::string name;
  int64_t degree = 0; ///< 0: auto, fixed at launch
  std::vector<std::string> splits, otherwise, stores;
  Location loc;
  Location degreeLoc;
  std::vector<Location> splitLocs; ///< of `splits`, then of `otherwise`
};

struct Mesh {
  std::vector<Axis> axes;
};

/// Without a `parallel` declaration: one axis `shard = auto` that splits the batch and stores all,
/// so that one program runs on one process or on many. Reports what is wrong; nothing then.
std::optional<Mesh> resolveMesh(const Run &run, const Library &library, DiagnosticEngine &diags);

/// Checks the map against a model: names, divisibility (of the batch, that of one of `microbatches`
/// parts), the layers.
void checkMesh(const Mesh &mesh, const Model &model, int64_t microbatches, DiagnosticEngine &diags);
/// Checks that each name of a map that no run uses is a dimension of one of the models at hand.
void checkNames(const Mesh &mesh, const std::vector<const Model *> &models,
                DiagnosticEngine &diags);

} // namespace titan::sema

#endif
