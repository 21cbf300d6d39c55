// The description of a program in emitted source: rows of literals that the compiler stores as data
// and the runtime converts to program.h's strings and vectors. (Code that fills those directly
// would take a third of the compile time of a step.)
//
// The fields have the meanings of program.h.
#pragma once

#include "titan/runtime/program.h"

#include <initializer_list>

namespace titan::rt {

template <typename T> using List = std::initializer_list<T>;

struct DimRow {
  const char *name;
  int64_t size;
  List<int> axes;
  int64_t padding = 0;
  int headTailAxis = -1;
};

struct TensorInfoRow {
  DType dtype;
  List<DimRow> dims;
  List<int> flatAxes;
  int flatFrom = 0;
  List<int> sumAxes = {};
};

struct TensorRow {
  Role role;
  const char *name;
  TensorInfoRow info;
  int allocation;
  const char *function = "";
  bool stacked = false;
  List<List<int64_t>> iterations = {};
  List<int> repeatSegments = {};
  Init init = Init::Constant;
  List<double> scale = {}; // none: 0
  double cut = 0;
  InitFrom initFrom = InitFrom::Required;
  IndexRange indexRange = {};
};

struct AllocationRow {
  const char *name;
  int64_t bytes;
  int64_t first = 0, last = 0;
  const char *bucket = "";
  int64_t slots = 1;
  bool isOnHost = false;
};

using StackOverlapRow = arena::StackOverlapOf<List>;

struct FunctionRow {
  const char *name;
  List<AllocationRow> transient;
  int64_t events;
  void (*run)(Context &);
  List<StackOverlapRow> stackOverlaps = {};
};

struct FragmentRow {
  const char *function;
  FragmentKind kind;
  int stage, level;
  List<int> uses, reads, writes;
};

struct PipelineRow {
  const char *program;
  int axis, stages;
  int64_t microbatches;
  const char *schedule;
  List<FragmentRow> fragments;
  List<int> stashes, inputs;
};

struct TurnRow {
  const char *function;
  List<Period> due, idle;
};

struct StoredParameterRow {
  const char *parameter, *tensor;
  List<int64_t> shape;
  int64_t start;
  List<int64_t> sizes, strides;
};

struct CopyRow {
  const char *tensor, *original;
};

struct WeightMapRow {
  const char *format;
  List<StoredParameterRow> parameters;
  List<CopyRow> copies;
  List<const char *> unused;
  List<const char *> merged = {};
};

// Convert rows and store them in, or append them to, the members of the program.
void setPersistent(Program &, List<AllocationRow>);
void setTensors(Program &, List<TensorRow>);
void addFunction(Program &, const FunctionRow &);
void addPipeline(Program &, const PipelineRow &);
void addTurn(Program &, const TurnRow &);
void setWeights(Program &, const WeightMapRow &);

} // namespace titan::rt
