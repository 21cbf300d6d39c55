// The contract of emitted programs and the runtime.
//
// An emitted program is one translation unit. It describes its mesh, parameters, state and inputs,
// and defines one function per entry point. The functions work on raw pointers into an arena that
// the runtime allocates once. All their memory is planned, so a step only computes and
// communicates. The runtime provides everything else: launch, process groups, data, initial values,
// checkpoints, metrics, command line.
//
// No LibTorch type occurs here, so an emitted file compiles in seconds.
#pragma once

#include "base/arena/StackOverlap.h"
#include "base/data/DType.h"
#include "base/data/IndexRange.h"
#include "base/layout/DimShard.h"
#include "base/pipeline/Table.h"
#include "base/settings/SettingRule.h"
#include "base/turns/Turns.h"
#include "base/weights/WeightMap.h"

#include "titan/runtime/alignment.h"
#include "titan/runtime/bfloat16.h"
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace titan::rt {

// The declarations of base/ that belong to the contract.
using titan::allowText, titan::idle, titan::allowIntegersFrom, titan::allowNumbersFrom,
    titan::allowNumbersWithin, titan::allowWords;
using titan::DimShard, titan::DType, titan::SettingRule, titan::getShard, titan::ShardOrder,
    titan::StoredParameter, titan::WeightMap, titan::arena::StackOverlap;
using titan::Period, titan::Turn;
using titan::pipeline::Fragment, titan::pipeline::FragmentKind, titan::pipeline::Pipeline;

/// A mesh axis, outer to inner. Degree 0 is `auto`: the number of processes divided by the other
/// degrees.
struct Axis {
  std::string name;
  int64_t degree;
};

/// A dimension of a tensor: its global size, and the mesh axes (indices, outer to inner) that shard
/// it. The last `padding` elements only make the size divisible: they are 0, and files do not
/// contain them.
struct Dim {
  std::string name;
  int64_t size;
  std::vector<int> axes;
  int64_t padding = 0;
  int headTailAxis = -1; ///< the one of `axes` in head-tail order (DimShard.h); -1: none
};

/// The storage of a tensor on a rank: row-major dimensions, each divided by the degrees of its
/// axes. If `flatAxes` is not empty, the dimensions after the first `flatFrom` are flattened,
/// padded to a multiple of the degree, and divided into equal shards (`#dist.sharding`). If
/// `sumAxes` is not empty, the tensor is unreduced over these axes.
struct TensorInfo {
  DType dtype;
  std::vector<Dim> dims;
  std::vector<int> flatAxes;
  int flatFrom = 0;
  std::vector<int> sumAxes = {};
};

/// The distribution of initial values.
enum class Init : uint8_t { Constant, Normal, TruncatedNormal, Uniform };

/// An allocation in the arena. A transient allocation is live from event `first` to event `last` of
/// its function's linear order and may share memory with others. A persistent allocation is always
/// live. An allocation in a bucket consists of `slots` equal slots, one per block of a repeat. The
/// slots of one block in all allocations of a bucket are consecutive, each at a multiple of
/// `tm::alignment` (alignment.h).
struct Allocation {
  std::string name; // source name, for messages
  int64_t bytes;    // on this rank
  int64_t first = 0, last = 0;
  std::string bucket = {}; // empty: one contiguous range
  int64_t slots = 1;
  bool isOnHost = false; // in memory of the host, which the device accesses directly
  bool isUsed = true;    // by the command; others of a program have no memory
};

/// The role of a tensor that the runtime knows.
enum class Role : uint8_t { Parameter, State, Cache, Input, Scalar, Output, Gradient };

/// The data that the weights of --init-from may lack; missing elements keep their initial values.
enum class InitFrom : uint8_t {
  Required, // nothing
  Optional, // the parameter
  Partial,  // the last elements of its dimensions
};

/// A tensor that the runtime initialises, writes, reads or stores in files.
struct Tensor {
  Role role;
  /// Parameter: its name ("layers.wq"); State: "m.layers.wq"; Cache: "layers.k"; Input: "tokens";
  /// Scalar: "lr", "lr.NAME" of a group's schedule, "step"; Output: "loss", "loss.NAME" for a named
  /// loss, "metric.NAME", "grad_norm", "local_loss" (the unreduced loss), "logits"; Gradient: the
  /// parameter's name. A stacked tensor (its first dimension is a repeat) is stored in files and
  /// initialised per layer: "layers.3.wq".
  std::string name;
  TensorInfo info;
  int allocation; // index into Program::persistent or Function::transient
  /// The function that an input, an output or a gradient belongs to ("train", "logits"). An input
  /// is set before the function runs; an output is valid from its end until another function runs.
  /// Empty for shared tensors.
  std::string function = {};
  bool stacked = false;
  /// For nested repeats, or if some iterations lack the tensor: the iterations of the slots of each
  /// leading dimension. Empty: one leading dimension, and slot l is iteration l.
  std::vector<std::vector<int64_t>> iterations = {};
  /// For each leading dimension, the index of the name segment that the iteration follows: {1} for
  /// "teacher.layers.wq". Empty: 0, 1, ...
  std::vector<int> repeatSegments = {};
  Init init = Init::Constant;
  std::vector<double> scale = {0}; // one, or one per layer
  double cut = 0;                  // truncation in standard deviations; 0: none
  InitFrom initFrom = InitFrom::Required;
  IndexRange indexRange = {}; ///< of an input of integers
};

class Collectives;
class FlightRecorder;
class NumberWatch;
class Trace;
struct Iteration;

/// An index out of range, found on a device, which cannot throw. It is in memory that device and
/// host share; the host checks it when it waits.
struct BadIndex {
  int32_t found = 0; // 1: the fields are valid
  const char *location = nullptr, *dim = nullptr;
  int64_t index = 0, size = 0;
};

/// The state that a function of the program sees: this rank's arena and mesh coordinates.
struct Context {
  std::byte *arena = nullptr;
  const int64_t *persistent = nullptr; // byte offsets of Program::persistent from `arena`
  const int64_t *transient = nullptr;  // byte offsets of the function's allocations
  const int64_t *degree = nullptr;     // per mesh axis
  const int64_t *coordinate = nullptr; // per mesh axis
  Collectives *collectives = nullptr;
  const char *location = "";        // source line of the running operation, for messages
  const char *action = "";          // the running operation
  Trace *trace = nullptr;           // not null while a profile is taken
  FlightRecorder *flight = nullptr; // not null in a training run
  NumberWatch *numbers = nullptr;   // not null while a step looks for numbers that are not finite
  const Iteration *iteration = nullptr; // of the innermost running repeat
  void *stream = nullptr;               // CUDA: the stream (cudaStream_t) of all work
  // CUDA: creates what the function will need without queueing work, so that a step only queues.
  bool preparing = false;
  BadIndex *badIndex = nullptr; // CUDA: where kernels record the first index out of range
};

/// The address of allocation `index`, or of its first slot.
template <typename T> T *persistent(const Context &ctx, int index) {
  return reinterpret_cast<T *>(ctx.arena + ctx.persistent[index]);
}
template <typename T> T *transient(const Context &ctx, int index) {
  return reinterpret_cast<T *>(ctx.arena + ctx.transient[index]);
}

/// Emitted before every operation. In a profile, the operation's span starts here and ends at the
/// next call. Not inline, which would cost more compile time than it saves in a step.
void trace(Context &, const char *location, const char *action);

/// Throws: names the index, the dimension and the source line.
[[noreturn]] void failAtIndex(const BadIndex &);

/// An entry point: "train" (one step), "train.critic" (a turn of a step), "logits" (inference).
struct Function {
  std::string name;
  std::vector<Allocation> transient;
  int64_t events = 0; // length of the linear order
  void (*run)(Context &);
  std::vector<StackOverlap> stackOverlaps = {}; // of indices into `transient`
};

/// A function that is one of several that train, and the steps in which it runs.
struct ProgramTurn {
  std::string function;
  Turn when;
};

/// A launch-time setting with its value in the file: "optimizer.lr" = "0.0008".
struct Setting {
  std::string path, value;
  bool compileTime;      // a different value at launch is refused, with the rebuild command
  SettingRule rule = {}; // for settings that may change at launch
};

/// How the learning rate depends on the step.
struct Schedule {
  /// The source of each argument of `factor`: "step" (from 1), "steps" (of the run), or the path of
  /// a setting: its number, or the index of its word among the choices of its rule.
  std::vector<std::string> sources;
  /// The factor of `optimizer.lr`; null: always 1.
  double (*factor)(const double *arguments) = nullptr;
};

/// An output of an evaluation that is not a mean over its batches, such as a quotient of sums: a
/// function of the means of other outputs.
struct EvaluatedOutput {
  std::string name; ///< "loss", "metric.accuracy"
  /// The outputs of "eval" whose means are the arguments of `value`.
  std::vector<std::string> sources;
  double (*value)(const double *arguments);
};

/// The schedule of a group of parameters, whose learning rate is the scalar `scalar`.
struct GroupSchedule {
  std::string scalar;
  Schedule schedule;
};

/// A route of messages: from each rank to the rank `offset` positions later along the axes
/// (indices, outer to inner), if there is one.
struct MessageRoute {
  std::vector<int> axes;
  int offset;
};

/// The names of the dimensions of inputs that number the samples and the positions of a sample.
/// `positions` is empty if samples have none.
struct DataDims {
  std::string samples, positions;
};

/// An input that the model lacks, and the setting with which a rebuilt program has it:
/// "weights", "model.answers=true".
struct AbsentInput {
  std::string name, setting;
};

/// All that the runtime knows of an emitted program, with sizes for given degrees of the mesh.
struct Program {
  std::string name, source; // source: the flattened .titan text
  std::string model;        // fingerprint of its structure; empty: unknown
  std::string config;       // for other software, with its equations (ExportConfig.h); or empty
  std::string code;         // a checksum of the emitted code; ranks compare it
  std::vector<Axis> mesh;
  std::vector<Allocation> persistent;
  std::vector<Tensor> tensors;
  /// Dimensions of intermediate values that combinations of axes shard and that no tensor has.
  /// Their degrees must divide them too.
  std::vector<Dim> shardedDims;
  std::vector<MessageRoute> routes; ///< of all messages of all functions
  std::vector<Function> functions;
  std::vector<Pipeline> pipelines; // of the functions that are divided into fragments
  /// The functions of training steps, in the order in which a step runs them. None: "train" runs in
  /// every step.
  std::vector<ProgramTurn> turns;
  std::vector<Setting> settings;
  WeightMap weights; ///< of other software
  Schedule schedule;
  std::vector<GroupSchedule> groupSchedules;
  std::vector<EvaluatedOutput> evaluated; ///< all other outputs of "eval" are averaged
  /// Each output of "eval" is a constant plus one term per sample of the batch.
  bool sumsOverSamples = false;
  DType dtype = DType::F32; // of parameters
  DataDims dims;            // of inputs and of logits
  std::vector<AbsentInput> absentInputs;
  /// Global sizes of a training step's data.
  int64_t samples = 0, positions = 0, vocab = 0;
  int64_t parameters = 0; // exact count
  std::string uncached; // why no function computes positions from caches; empty: one does, or none
                        // computes logits
  double flopsPerToken = 0;      // executed, forward and backward
  double modelFlopsPerToken = 0; // of the model as written, by TorchTitan's formula
};

/// Defined by the emitted program. `degree` holds one degree per axis, `auto` resolved.
std::vector<Axis> programMesh();
Program program(const int64_t *degree);

// Functions for emitted code. All pointers are into the arena, all matrices row-major.

/// c[b] = (or +=) op(a[b]) op(b[b]) for b < batch, m x k times k x n, optionally transposed.
/// Leading dimensions and batch strides are in elements. bf16 products are summed in float and
/// rounded once, or not at all.
struct GemmShape {
  int64_t m, n, k;
  bool transposeA = false, transposeB = false, accumulate = false;
  int64_t lda, ldb, ldc;
  int64_t batch = 1, strideA = 0, strideB = 0, strideC = 0;
};
void gemm(Context &, const float *a, const float *b, float *c, const GemmShape &);
void gemm(Context &, const double *a, const double *b, double *c, const GemmShape &);
void gemm(Context &, const bf16 *a, const bf16 *b, bf16 *c, const GemmShape &);
void gemm(Context &, const bf16 *a, const bf16 *b, float *c, const GemmShape &);

/// Strides in elements of the dimensions that attention uses; 0 for a missing dimension.
struct AttentionStrides {
  int64_t outer = 0, position = 0, kvHead = 0, group = 0, element = 0;
};
/// Attention on q[outer, queries, kvHeads, group, head], k[outer, keys, kvHeads, head] and v[outer,
/// keys, kvHeads, valueHead]. Results: out[outer, queries, kvHeads, group, valueHead] and
/// lse[outer, queries, kvHeads, group]. See titan.attention.
struct AttentionShape {
  int64_t outer, queries, keys, kvHeads, group, head, valueHead;
  double scale;
  bool causal = false;
  int64_t window = 0;                 // 0: none
  double softCap = 0;                 // 0: none
  DimShard queryShard = {};           // positions of this rank's queries; length 0: all
  const int64_t *documents = nullptr; // [outer, positions, kvHeads]; null: none
  DimShard keyShard = {};             // positions of k and v, in a step of a ring; length 0: all
  const int64_t *start = nullptr; // [outer, kvHeads], added to the positions of queries; null: 0
  void *scratch = nullptr;        // one block per thread (base/kernels/AttentionScratch.h)
  /// Default: the dimensions in the order above, row-major.
  AttentionStrides q = {}, k = {}, v = {}, out = {}, lse = {}, ofDocuments = {};
  AttentionStrides ofStart = {}; // default: one start for all
};
/// The positions of the queries and keys of an (outer, kv head) pair.
TITAN_LAYOUT DimShard queryPositions(const AttentionShape &shape, int64_t outer, int64_t kvHead) {
  DimShard shard = shape.queryShard.length ? shape.queryShard : DimShard::whole(shape.queries);
  if (shape.start)
    shard.start += shape.start[outer * shape.ofStart.outer + kvHead * shape.ofStart.kvHead];
  return shard;
}
TITAN_LAYOUT DimShard keyPositions(const AttentionShape &shape) {
  return shape.keyShard.length ? shape.keyShard : DimShard::whole(shape.keys);
}
void attention(Context &, const float *q, const float *k, const float *v, float *out, float *lse,
               const AttentionShape &);
void attention(Context &, const double *q, const double *k, const double *v, double *out,
               double *lse, const AttentionShape &);
void attention(Context &, const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *lse,
               const AttentionShape &);
/// `lseCotangent` is the cotangent of lse, or null. Gradients have the layouts of their tensors.
void attentionGrad(Context &, const float *dOut, const float *q, const float *k, const float *v,
                   const float *out, const float *lse, const float *lseCotangent, float *dq,
                   float *dk, float *dv, const AttentionShape &);
void attentionGrad(Context &, const double *dOut, const double *q, const double *k, const double *v,
                   const double *out, const double *lse, const double *lseCotangent, double *dq,
                   double *dk, double *dv, const AttentionShape &);
void attentionGrad(Context &, const bf16 *dOut, const bf16 *q, const bf16 *k, const bf16 *v,
                   const bf16 *out, const float *lse, const float *lseCotangent, bf16 *dq, bf16 *dk,
                   bf16 *dv, const AttentionShape &);

/// Collectives over the group of the ranks that differ in the given mesh axes only. A collective
/// along a dimension moves `outer` blocks of `inner` contiguous elements. The local tensor is
/// [outer, d, inner], and d is the local size of the sharded dimension. `elements` counts those of
/// one rank.
enum class Reduction : uint8_t { Sum, Max, Min };
/// Mesh axes by their indices; the array must outlive the call.
struct GroupRef {
  const int *axes;
  int count;
};
/// The group over these axes: `over<mesh::shard, mesh::tp>()`.
template <int... axes> GroupRef over() {
  static constexpr int list[] = {axes...};
  return {list, sizeof...(axes)};
}
/// out[outer, ranks * d, inner] from in[outer, d, inner]. No packing for outer = 1.
void allGather(Context &, GroupRef, DType, const void *in, void *out, int64_t outer, int64_t d,
               int64_t inner);
/// out[outer, d, inner] = this rank's shard of the reduction of in[outer, ranks * d, inner].
void reduceScatter(Context &, GroupRef, DType, Reduction, const void *in, void *out, int64_t outer,
                   int64_t d, int64_t inner);
/// In place.
void allReduce(Context &, GroupRef, DType, Reduction, void *data, int64_t elements);
/// One tensor of a coalesced collective, with the arguments of a single call. For allReduce `in`
/// equals `out`. `order` is that of the group's shards in the dimension that a gather or scatter
/// moves.
struct CollectiveOperand {
  const void *in;
  void *out;
  int64_t outer, d, inner;
  ShardOrder order = ShardOrder::Block;
};
/// Coalesced collectives. With `kAtOnce`, the call returns when its outputs are complete. With a
/// channel, it only starts the collective. The started calls of one group run in the background in
/// the order of their starts, those of different groups at the same time. Until `finish` on that
/// channel, nobody may write the inputs or access the outputs.
constexpr int kAtOnce = -1;
void allGather(Context &, GroupRef, DType, std::initializer_list<CollectiveOperand>,
               int channel = kAtOnce);
void reduceScatter(Context &, GroupRef, DType, Reduction, std::initializer_list<CollectiveOperand>,
                   int channel = kAtOnce);
void allReduce(Context &, GroupRef, DType, Reduction, std::initializer_list<CollectiveOperand>,
               int channel = kAtOnce);
/// Moves the sharded dimension of a tensor [a, s, b, g, c] from g to s, where g = ranks * gLocal:
/// in [a, s, b, gLocal, c] -> out [a, s / ranks, b, g, c]. With `gatherFirst`, g precedes s:
/// in [a, gLocal, b, s, c] -> out [a, g, b, s / ranks, c].
struct AllToAllOperand {
  const void *in;
  void *out;
  int64_t a, s, b, gLocal, c;
  bool gatherFirst;
};
void allToAll(Context &, GroupRef, DType, const void *in, void *out, int64_t a, int64_t s,
              int64_t b, int64_t gLocal, int64_t c, bool gatherFirst);
void allToAll(Context &, GroupRef, DType, std::initializer_list<AllToAllOperand>,
              int channel = kAtOnce);
/// Each rank sends its tensors to the rank `offset` positions later in the group, cyclically.
void permute(Context &, GroupRef, DType, int offset, std::initializer_list<CollectiveOperand>,
             int channel = kAtOnce);
/// A message of `elements` elements to the rank `offset` positions later along the axes, and from
/// the rank `offset` positions earlier. Without such a rank, the call does nothing. A synchronous
/// call ends when its partner has called too. Program::routes lists the axes and offset.
void send(Context &, GroupRef, DType, int offset, const void *data, int64_t elements,
          int channel = kAtOnce);
void receive(Context &, GroupRef, DType, int offset, void *data, int64_t elements,
             int channel = kAtOnce);
/// Waits for the last call started on the channel.
void finish(Context &, int channel);

} // namespace titan::rt
