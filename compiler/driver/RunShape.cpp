#include "compiler/driver/RunShape.h"

#include "compiler/driver/RunSummary.h"
#include "compiler/sema/program/Fingerprint.h"

#include <algorithm>

namespace titan::driver {
namespace {

using sema::CheckedRun;
using sema::DimId;
using sema::Model;

/// Norms and softmax over two elements have almost no gradient.
constexpr int64_t leastOfParameters = 4, leastOfOthers = 2;

void addExtent(RunShape &shape, int64_t size, int64_t least) {
  shape.extents.push_back(size);
  shape.least.push_back(std::min(size, least));
}

/// The sizes of a microbatch.
void addDims(const Model &model, const sema::Run &run, RunShape &shape) {
  const int64_t microbatches = run["accumulate"].integer;
  for (DimId id = 0; id < model.dims.size(); ++id) {
    auto has = [&](const sema::Parameter &one) { return one.type.dims.contains(id); };
    const bool isOfParameter = std::any_of(model.parameters.begin(), model.parameters.end(), has);
    const int64_t size =
        model.dims[id].size / (model.dims[id].name == run.dims.samples ? microbatches : 1);
    addExtent(shape, size, isOfParameter ? leastOfParameters : leastOfOthers);
    const DimId origin = model.dims[id].origin;
    if (origin != id && model.dims[id].size < model.dims[origin].size)
      shape.smaller.push_back({id, origin});
  }
}

void addWindows(const Model &model, const sema::Region &region, RunShape &shape) {
  for (const sema::Op &op : region.ops) {
    if (op.kind == sema::OpKind::Attention && op.index > 0) {
      if (op.index < model.dims[op.dims[1]].size)
        shape.smaller.push_back({shape.extents.size(), op.dims[1]});
      addExtent(shape, op.index, leastOfOthers);
    }
    for (const sema::Region &body : op.body)
      addWindows(model, body, shape);
  }
}

} // namespace

RunShape getRunShape(const CheckedRun &run) {
  RunShape shape;
  shape.structure = sema::describeStructure(run.train);
  for (const sema::Axis &axis : run.mesh.axes)
    if (axis.degree != 1)
      shape.axes.push_back(axis.name);
  for (const auto &[dim, size] : findPaddedDims(run))
    shape.padded.push_back(dim->name);
  if (const std::optional<sema::Pipeline> &pipeline = run.mesh.pipeline) {
    const auto [least, most] =
        std::minmax_element(pipeline->layersPerStage.begin(), pipeline->layersPerStage.end());
    shape.isUneven = *least != *most;
  }
  addDims(run.train, run.run, shape);
  addWindows(run.train, run.train.body, shape);
  return shape;
}

bool represents(const RunShape &small, const RunShape &whole) {
  return small.structure == whole.structure && small.axes == whole.axes &&
         small.padded == whole.padded && small.isUneven == whole.isUneven &&
         small.smaller == whole.smaller &&
         std::equal(small.extents.begin(), small.extents.end(), whole.least.begin(),
                    whole.least.end(), std::greater_equal<>());
}

} // namespace titan::driver
