// Converts the rows of an emitted program to its strings and vectors (program_table.h).
#include "titan/runtime/program_table.h"

namespace titan::rt {

namespace {

/// Conversions from rows.
Allocation fromRow(const AllocationRow &row) {
  return {row.name, row.bytes, row.first, row.last, row.bucket, row.slots, row.isOnHost};
}

Dim fromRow(const DimRow &row) {
  return {row.name, row.size, row.axes, row.padding, row.headTailAxis};
}

StackOverlap fromRow(const StackOverlapRow &row) {
  return {row.consumed,      row.produced,      row.consumedSlots,
          row.producedSlots, row.producedAbove, row.producedBelow};
}

Fragment fromRow(const FragmentRow &row) {
  return {row.function, row.kind, row.stage, row.level, row.uses, row.reads, row.writes};
}

Tensor fromRow(const TensorRow &row);

template <typename Row> auto fromRows(List<Row> rows) {
  std::vector<decltype(fromRow(*rows.begin()))> all;
  all.reserve(rows.size());
  for (const Row &row : rows)
    all.push_back(fromRow(row));
  return all;
}

Tensor fromRow(const TensorRow &row) {
  Tensor tensor{row.role, row.name, {}, row.allocation, row.function, row.stacked};
  tensor.info = {row.info.dtype, fromRows(row.info.dims), row.info.flatAxes, row.info.flatFrom,
                 row.info.sumAxes};
  tensor.iterations.assign(row.iterations.begin(), row.iterations.end());
  tensor.repeatSegments = row.repeatSegments;
  tensor.init = row.init;
  if (row.scale.size() > 0)
    tensor.scale = row.scale;
  tensor.cut = row.cut;
  tensor.indexRange = row.indexRange;
  tensor.initFrom = row.initFrom;
  return tensor;
}

} // namespace

void setPersistent(Program &program, List<AllocationRow> rows) {
  program.persistent = fromRows(rows);
}

void setTensors(Program &program, List<TensorRow> rows) {
  program.tensors = fromRows(rows);
}

void addFunction(Program &program, const FunctionRow &row) {
  program.functions.push_back(
      {row.name, fromRows(row.transient), row.events, row.run, fromRows(row.stackOverlaps)});
}

void addPipeline(Program &program, const PipelineRow &row) {
  program.pipelines.push_back({row.program, row.axis, row.stages, row.microbatches, row.schedule,
                               fromRows(row.fragments), row.stashes, row.inputs});
}

void addTurn(Program &program, const TurnRow &row) {
  program.turns.push_back({row.function, {row.due, row.idle}});
}

void setWeights(Program &program, const WeightMapRow &row) {
  WeightMap &map = program.weights;
  map.format = row.format;
  for (const StoredParameterRow &stored : row.parameters)
    map.parameters.push_back({stored.parameter, stored.tensor, stored.shape, stored.start,
                              stored.sizes, stored.strides});
  for (const CopyRow &copy : row.copies)
    map.copies.emplace_back(copy.tensor, copy.original);
  map.unused.assign(row.unused.begin(), row.unused.end());
  map.merged.assign(row.merged.begin(), row.merged.end());
}

} // namespace titan::rt
