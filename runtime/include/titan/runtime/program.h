//===- program.h - The contract of emitted programs and the runtime -*- C++ -*-===//
//
// An emitted program is one translation unit that defines `titan_program()`. It describes what the
// program holds (mesh, parameters, state, inputs) and gives one plain function per entry point. The
// functions work on raw pointers into an arena that the runtime allocates once: everything they
// need is planned, so a step only computes and communicates. The runtime owns the rest: launching,
// process groups, data, initial values, checkpoints, metrics, command line.
//
// No LibTorch type occurs here, so an emitted file compiles in seconds.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_RUNTIME_PROGRAM_H
#define TITAN_RUNTIME_PROGRAM_H

#include "base/arena/StackOverlap.h"
#include "base/data/DType.h"
#include "base/settings/SettingRule.h"

#include "titan/runtime/alignment.h"
#include "titan/runtime/bfloat16.h"
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace titan::rt {

// What the contract takes of base/.
using titan::anyText, titan::idle, titan::integerFrom, titan::numberFrom, titan::numberWithin,
    titan::oneOf;
using titan::DType, titan::SettingRule, titan::arena::StackOverlap;

/// A mesh axis, outer to inner. Degree 0 is `auto`: the number of processes divided by the others.
struct Axis {
  std::string name;
  int64_t degree;
};

/// A dimension of a tensor: global size and the mesh axes (indices, outer to inner) that split it.
/// Its last `padding` elements are there for the axes alone: they are 0 and stand in no file.
struct Dim {
  std::string name;
  int64_t size;
  std::vector<int> axes;
  int64_t padding = 0;
};

/// How a tensor lies in memory on a rank: its dimensions row-major, each divided by its axes'
/// degrees; where `flatAxes` is not empty, everything below the first `flatFrom` dimensions is
/// flattened, padded to a multiple of the degree, and split into equal chunks (`#dist.sharding`).
/// Where `sumAxes` is not empty, the tensor is the sum of what the ranks along these have.
struct TensorInfo {
  DType dtype;
  std::vector<Dim> dims;
  std::vector<int> flatAxes;
  int flatFrom = 0;
  std::vector<int> sumAxes = {};
};

enum class Init : uint8_t { Constant, Normal, TruncatedNormal, Uniform };

/// A buffer with a place in the arena. Transient buffers live from event `first` to event `last` of
/// their function's linear order and may share memory with others; persistent ones live always.
/// Those in a bucket consist of `slots` equal parts, one of each block that a repeat makes: what a
/// block has of all of them lies together, each at a multiple of `tm::alignment` (alignment.h).
struct Allocation {
  std::string name; // source name, for messages
  int64_t bytes;    // on this rank
  int64_t first = 0, last = 0;
  std::string bucket = {}; // empty: lies alone, in one piece
  int64_t slots = 1;
};

/// What a tensor that the runtime knows is for.
enum class Role : uint8_t { Parameter, State, Input, Scalar, Output, Gradient };

struct Tensor {
  Role role;
  /// Parameter: its name ("layers.wq"); State: "m.layers.wq"; Input: "tokens"; Scalar: "lr",
  /// "step"; Output: "loss", "loss.NAME" of one that has a name, "grad_norm", "local_loss" (what
  /// this rank adds to the loss), "logits"; Gradient: the parameter's name. A stacked tensor (its
  /// first dimension is a repeat) is exchanged and initialised per layer: "layers.3.wq".
  std::string name;
  TensorInfo info;
  int allocation; // index into Program::persistent or, of a function's own, Function::transient
  /// The function that an input, an output or a gradient belongs to ("train", "logits"): it is
  /// given before the function runs, or there from its end until another runs. Empty for what all
  /// share.
  std::string function = {};
  bool stacked = false;
  /// Where not every iteration has the tensor, or repeats stand in repeats: for each leading
  /// dimension the iterations of its slots. Empty: one such dimension, slot l is iteration l.
  std::vector<std::vector<int64_t>> iterations = {};
  /// For each of them the repeat's part of the name, which the iteration follows: {1} of
  /// "teacher.layers.wq". Empty: 0, 1, ...
  std::vector<int> repeatSegments = {};
  Init init = Init::Constant;
  std::vector<double> scale = {0}; // one, or one a layer
  double cut = 0;                  // truncation in standard deviations; 0: none
};

class Collectives;
class Trace;

/// An index that is outside of the dimension that it indexes, found on a device, which cannot fail
/// by itself. It lies in memory that device and host both reach; the host looks when it waits.
struct BadIndex {
  int32_t found = 0; // 1: the rest says which
  const char *location = nullptr, *dim = nullptr;
  int64_t index = 0, size = 0;
};

/// What a function of the program sees: this rank's arena and place in the mesh.
struct Context {
  std::byte *arena = nullptr;
  const int64_t *persistent = nullptr; // byte offsets of Program::persistent
  const int64_t *transient = nullptr;  // byte offsets of the running function's buffers
  const int64_t *degree = nullptr;     // per mesh axis
  const int64_t *coordinate = nullptr; // per mesh axis
  Collectives *collectives = nullptr;
  const char *location = ""; // source line of what runs, for messages
  const char *action = "";   // and the operation
  Trace *trace = nullptr;    // where a profile is being taken
  void *stream = nullptr;    // CUDA: the stream (cudaStream_t) that everything is queued on
  // CUDA: nothing is queued; what the function will use is made, so that a step only queues.
  bool preparing = false;
  BadIndex *badIndex = nullptr; // CUDA: where kernels note the first one
};

/// Where buffer `index` lies, or its first slot.
template <typename T> T *persistent(const Context &ctx, int index) {
  return reinterpret_cast<T *>(ctx.arena + ctx.persistent[index]);
}
template <typename T> T *transient(const Context &ctx, int index) {
  return reinterpret_cast<T *>(ctx.arena + ctx.transient[index]);
}

/// Emitted before every operation; where a profile is being taken, its span begins here and ends
/// where the next one does. Not inline: that would cost compilers more than it saves a step.
void trace(Context &, const char *location, const char *action);

/// Fails: says which index is outside of `dim`, where.
[[noreturn]] void failAtIndex(const BadIndex &);

/// An entry point: "train" (one step), "logits" (inference).
struct Function {
  std::string name;
  std::vector<Allocation> transient;
  int64_t events = 0; // length of the linear order
  void (*run)(Context &);
  std::vector<StackOverlap> stackOverlaps = {}; // of indices into `transient`
};

/// A launch-time setting with the value the file gave: "optimizer.lr" = "0.0008".
struct Setting {
  std::string path, value;
  bool compileTime; // then a different value at launch is refused with the command that rebuilds
  SettingRule rule = {}; // of one that may change at launch
};

struct Program {
  std::string name, source; // source: the flattened .titan text
  std::string model;        // fingerprint of its structure; empty: not known
  std::string code;         // a checksum of what the compiler emitted; ranks compare it
  std::vector<Axis> mesh;
  std::vector<Allocation> persistent;
  std::vector<Tensor> tensors;
  /// Dimensions of values within functions that `auto` and other axes split together, as those of
  /// no tensor are: a degree must divide these, too.
  std::vector<Dim> shardedDims;
  std::vector<Function> functions;
  std::vector<Setting> settings;
  DType dtype = DType::F32;              // of parameters
  int64_t batch = 0, seq = 0, vocab = 0; // global sizes of a training step's data
  int64_t parameters = 0;                // exact count
  double flopsPerToken = 0;              // executed, forward and backward
  double modelFlopsPerToken = 0;         // of the model as written, by TorchTitan's formula
};

/// Defined by the emitted program. `degree` holds one degree per axis, `auto` resolved.
std::vector<Axis> programMesh();
Program program(const int64_t *degree);

//===----------------------------------------------------------------------===//
// What emitted functions call. All pointers are into the arena, all matrices row-major.
//===----------------------------------------------------------------------===//

/// c[b] = (or +=) op(a[b]) op(b[b]) for b < batch; op transposes where asked. Leading dimensions
/// and batch strides are in elements. m x k times k x n. Products of bf16 are summed in float and
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

/// Elements between neighbours along each dimension that attention walks; 0 where a tensor lacks
/// it.
struct AttentionStrides {
  int64_t outer = 0, position = 0, kvHead = 0, group = 0, element = 0;
};
/// Attention on q[outer, queries, kvHeads, group, head], k[outer, keys, kvHeads, head] and v[outer,
/// keys, kvHeads, valueHead], giving out[outer, queries, kvHeads, group, valueHead] and lse[outer,
/// queries, kvHeads, group]. See titan.attention.
struct AttentionShape {
  int64_t outer, queries, keys, kvHeads, group, head, valueHead;
  double scale;
  bool causal = false;
  int64_t window = 0;                 // 0: none
  double softCap = 0;                 // 0: none
  int64_t firstQuery = 0;             // the position among the keys of this rank's first query
  const int64_t *documents = nullptr; // [outer, keys, kvHeads]; null: none
  void *scratch = nullptr;            // a block for each thread (base/kernels/AttentionScratch.h)
  /// Left out: the dimensions above lie in that order, row-major.
  AttentionStrides q = {}, k = {}, v = {}, out = {}, lse = {}, ofDocuments = {};
};
void attention(Context &, const float *q, const float *k, const float *v, float *out, float *lse,
               const AttentionShape &);
void attention(Context &, const double *q, const double *k, const double *v, double *out,
               double *lse, const AttentionShape &);
void attention(Context &, const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *lse,
               const AttentionShape &);
/// `lseCotangent` is the cotangent of lse, or null. Tensors lie like those whose cotangents they
/// are.
void attentionGrad(Context &, const float *dOut, const float *q, const float *k, const float *v,
                   const float *out, const float *lse, const float *lseCotangent, float *dq,
                   float *dk, float *dv, const AttentionShape &);
void attentionGrad(Context &, const double *dOut, const double *q, const double *k, const double *v,
                   const double *out, const double *lse, const double *lseCotangent, double *dq,
                   double *dk, double *dv, const AttentionShape &);
void attentionGrad(Context &, const bf16 *dOut, const bf16 *q, const bf16 *k, const bf16 *v,
                   const bf16 *out, const float *lse, const float *lseCotangent, bf16 *dq, bf16 *dk,
                   bf16 *dv, const AttentionShape &);

/// Collectives over the group that varies in the given mesh axes (outer to inner), others fixed.
/// A dimension-wise collective moves `outer` blocks of `inner` contiguous elements: the local
/// tensor is [outer, d, inner] with d the split dimension's local size. `elements` counts a rank's
/// part.
enum class Reduction : uint8_t { Sum, Max, Min };
struct GroupRef {
  const int *axes;
  int count;
};
/// The group over these axes: `over<mesh::shard, mesh::tp>()`.
template <int... axes> GroupRef over() {
  static constexpr int list[] = {axes...};
  return {list, sizeof...(axes)};
}
/// out[outer, ranks * d, inner] from in[outer, d, inner]. outer = 1 needs no packing.
void allGather(Context &, GroupRef, DType, const void *in, void *out, int64_t outer, int64_t d,
               int64_t inner);
/// out[outer, d, inner] = this rank's part of the reduction of in[outer, ranks * d, inner].
void reduceScatter(Context &, GroupRef, DType, Reduction, const void *in, void *out, int64_t outer,
                   int64_t d, int64_t inner);
/// In place.
void allReduce(Context &, GroupRef, DType, Reduction, void *data, int64_t elements);
/// One of several values that are exchanged as one message, with the arguments that it would have
/// alone; reduced in place: `in` and `out` are the same.
struct CollectiveOperand {
  const void *in;
  void *out;
  int64_t outer, d, inner;
};
/// Several values at once. With a channel, the call returns at once and the exchange goes on in the
/// background, in the order of the calls: until `finish` on that channel, nobody may write what it
/// reads or touch what it writes.
constexpr int kAtOnce = -1;
void allGather(Context &, GroupRef, DType, std::initializer_list<CollectiveOperand>,
               int channel = kAtOnce);
void reduceScatter(Context &, GroupRef, DType, Reduction, std::initializer_list<CollectiveOperand>,
                   int channel = kAtOnce);
void allReduce(Context &, GroupRef, DType, Reduction, std::initializer_list<CollectiveOperand>,
               int channel = kAtOnce);
/// Returns when what was last started on the channel is there.
void finish(Context &, int channel);
/// A tensor [a, s, b, g, c] whose dimension g (global size over the group: ranks * gLocal) is split
/// becomes one whose dimension s is split: in [a, s, b, gLocal, c] -> out [a, s / ranks, b, g, c];
/// `gatherFirst` swaps the roles: in [a, gLocal, b, s, c] -> out [a, g, b, s / ranks, c].
void allToAll(Context &, GroupRef, DType, const void *in, void *out, int64_t a, int64_t s,
              int64_t b, int64_t gLocal, int64_t c, bool gatherFirst);

} // namespace titan::rt

#endif // TITAN_RUNTIME_PROGRAM_H
