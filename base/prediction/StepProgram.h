// What the ranks of a run do in a training step, as plain data: the work of each kernel, the bytes
// of each collective and the order of both. The compiler derives a step from the scheduled program
// (compiler/plan/DescribeStep.h); Simulation.h computes its time on a machine.
//
// Ranks at equal coordinates along the axis of the pipeline do the same, so there is one list of
// calls for each such coordinate. Sizes are those of one rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace titan {

/// A line of the source program; `file` is empty if there is none.
struct SourceLine {
  std::string file;
  int64_t line = 0;
};

enum class KernelKind : uint8_t {
  Product,           ///< a matrix product
  Attention,         ///< fused attention
  AttentionGradient, ///< its backward pass
  Loop,              ///< elementwise arithmetic, reductions, copies
};

struct KernelWork {
  KernelKind kind = KernelKind::Loop;
  std::string type;                   ///< of the elements of the operands: "bf16"
  double flops = 0;                   ///< of products and attention
  double arithmetic = 0, special = 0; ///< elementwise operations (Machine.h), of loops
  double bytesRead = 0, bytesWritten = 0;
  /// Of a product: `batch` products of m x k by k x n. Of attention: m queries of size k to n keys.
  double batch = 1, m = 0, n = 0, k = 0;
};

struct CollectiveWork {
  enum class Kind : uint8_t { AllGather, ReduceScatter, AllReduce, AllToAll, Permute };
  Kind kind = Kind::AllGather;
  std::vector<int> axes; ///< of the mesh, whose ranks take part; of a permute: one
  double bytesSent = 0;  ///< by a rank, by the ring algorithms (dist/Analysis/CollectiveReport.h)
  int64_t messages = 1;  ///< calls of the communication library, each with its latency
};

struct StepItem;
using StepItems = std::vector<StepItem>;

/// A sequence that is executed `count` times.
struct StepLoop {
  struct Body {
    int64_t count = 1;
    StepItems items;
  };
  std::vector<Body> bodies; ///< one after the other
};

struct StepKernel {
  KernelWork work;
};

/// A collective; with a channel, it runs beside kernels until the wait for this channel.
struct StepCollective {
  CollectiveWork work;
  int64_t channel = -1; ///< -1: the program waits for it
};

struct StepWait {
  int64_t channel;
};

struct StepItem {
  std::string name; ///< of the operation: "contract"
  SourceLine source;
  std::variant<StepKernel, StepCollective, StepWait, StepLoop> what;
};

/// One end of a message from one stage of a pipeline to another.
struct StepMessage {
  int offset = 0; ///< coordinate of the receiver minus that of the sender
  double bytes = 0;
  bool isSend = true; ///< this end
};

/// A call of a function. Messages are numbers in StepProgram::Rank::messages.
struct StepCall {
  std::string function;
  std::string name;               ///< "2F0": stage 2, forward, microbatch 0
  double times = 1;               ///< less than 1: the fraction of the steps that call the function
  std::vector<int> receives = {}; ///< messages that start before the call
  std::vector<int> waits = {};    ///< messages that end before the call
  std::vector<int> sends = {};    ///< messages that start after the call
};

struct StepProgram {
  /// One coordinate along the axis of the pipeline.
  struct Rank {
    std::vector<StepCall> calls;
    std::vector<StepMessage> messages;
    std::vector<int> lastWaits; ///< messages that end with the step
  };

  std::vector<int> degrees; ///< of the mesh, outer to inner
  std::vector<std::string> axes;
  int pipelineAxis = -1; ///< -1: no pipeline, one rank
  std::vector<Rank> ranks;
  std::map<std::string, StepItems> functions;
  double tokens = 0;     ///< of a step, all ranks
  double flops = 0;      ///< executed in a step by all ranks
  double modelFlops = 0; ///< likewise, of the model as written, by TorchTitan's convention
  std::string type;      ///< the element type of most products' operations, for utilisation
};

} // namespace titan
