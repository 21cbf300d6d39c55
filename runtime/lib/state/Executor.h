// One rank's program: its tensors in the arena, its mesh coordinates, and the calls of its
// functions. Training and generation build on it.
//
// A program is one function, or a pipeline: then the rank runs the fragments of its stages, and has
// the tensors that these use.
#pragma once

#include "Arena.h"

#include "GradientCopies.h"
#include "RankMessages.h"
#include "TensorShards.h"
#include "collectives/Collectives.h"
#include "metrics/Metrics.h"
#include "pipeline/ProgramPipelines.h"
#include "titan/runtime/program.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

class Executor {
public:
  /// `degrees` are resolved (resolveDegrees) and divide the sizes that they shard.
  Executor(Program program, std::vector<int64_t> degrees, World &world,
           std::unique_ptr<Device> device);
  ~Executor();

  /// Throws UserError for sizes that the degrees do not divide.
  static void checkDivisibility(const Program &program, const std::vector<int64_t> &degrees);

  const Program &program() const { return emittedProgram; }
  const Arena &arena() const { return memory; }
  World &world() { return collectives.getWorld(); }
  const Mesh &mesh() const { return collectives.getMesh(); }
  bool isFirst() { return world().rank() == 0; }

  /// The tensor of this role and name of a function, or one that functions share; null if the
  /// program has none. Every rank has all outputs.
  const Tensor *find(Role role, const std::string &name, const std::string &function) const;
  /// Whether this rank has the tensor.
  bool has(const Tensor &tensor) const;
  /// The memory of a tensor that this rank has. An output is valid until another function runs. So
  /// is a gradient, unless gradients are kept.
  std::byte *getData(const Tensor &tensor) const;
  Device &device() const { return *ownDevice; }
  /// The slots of a tensor that files store separately: one per iteration of a stacked tensor, else
  /// one.
  struct Slots {
    TensorInfo info; ///< of one slot
    int64_t count;
    int64_t bytes;  ///< of one slot on this rank
    int64_t stride; ///< bytes between slots; other tensors may be in between
  };
  Slots getSlots(const Tensor &tensor) const;
  /// The host's view of this rank's shard of a contiguous tensor.
  HostView view(const Tensor &tensor, HostView::Access access) const;
  ShardLayout getLayout(const TensorInfo &tensor) const;
  /// Whether this rank writes the tensor: one of the ranks with the same shard.
  bool isWriter(const Tensor &tensor) const;
  /// The number of this rank's shard; ranks with equal shards have equal numbers.
  int64_t shardIndex(const TensorInfo &tensor) const {
    return getShardIndex(tensor, degrees, coordinates);
  }

  /// The context of the running function, with the current source location.
  const Context &running() const { return context; }
  /// Where functions record their operations from now on; null: nowhere.
  void setTrace(Trace *trace);
  /// Records operations and collectives from now on in the directory of a run (FlightRecorder.h).
  /// Throws UserError if the file cannot be created.
  void startRecording(const std::string &runDirectory);
  /// Notes for the record, if there is one: the step that follows, and that this rank fails.
  void recordStep(int64_t step);
  void recordFailure();
  /// Removes the record.
  void stopRecording();
  /// What looks at the numbers of functions from now on (NumberWatch.h); null: nothing. Functions
  /// then run slower.
  void setNumbers(NumberWatch *numbers) { context.numbers = numbers; }
  /// Where the collectives and messages of functions are counted from now on; null: nowhere.
  void setTraffic(Traffic *traffic);
  /// The time for which functions waited for other ranks so far.
  double waitedSeconds() const;
  /// The bytes outside the arena in which collectives pack their operands.
  int64_t packingBytes() const;
  /// Whether gradients stay valid from the next step on, in separate memory.
  void keepGradients(bool enabled);
  bool hasFunction(const std::string &name) const;
  /// Creates the device and communication resources of a function, so that even its first run only
  /// queues work. On CPUs there is nothing to create. `run` does it if necessary.
  void prepare(const std::string &function);
  /// Runs a function on this rank's data; an exception names the source line.
  void run(const std::string &function);

  /// A rank-0 tensor as a number; NaN if there is none of this name.
  double readScalar(const std::string &name, const std::string &function) const;
  /// The outputs of a function that are numbers and whose names begin with `prefix`, by the rest of
  /// their names.
  NamedNumbers readOutputs(const std::string &prefix, const std::string &function) const;
  /// The maximum over ranks of an unreduced mean: this rank's term times the number of terms. Empty
  /// if the output is not unreduced. Collective.
  std::optional<double> readMaxUnreduced(const std::string &name, const std::string &function);
  void writeScalar(const std::string &name, double value);

  /// Maximum over ranks of each of a few small integers. Collective.
  void maxOverRanks(std::span<float> values);
  int maxOverRanks(int value);
  /// True on every rank if it is true on any. Collective.
  bool anyRank(bool value);
  /// Rank 0's value, on all ranks. Collective.
  int64_t broadcastFromFirst(int64_t value);
  void barrier(const char *action);

private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t findFunction(const std::string &name) const;
  /// Throws UserError if there is no such function.
  size_t functionIndex(const std::string &name) const;
  /// Calls `call(group, site)` for the group of all ranks, and records the call.
  template <typename Fn> void callWorld(const Site &site, Fn call);
  void runFunction(size_t index);
  void prepareFunction(size_t index);
  void prepareCall(const RankPlan &plan, const PlannedCall &call);
  void runCall(const RankPlan &plan, const PlannedCall &call);
  /// Tells the watch of numbers, if there is one, which fragment runs next.
  void announceFragment(const std::string &program, const PlannedCall &call);
  /// Sets the offsets of persistent allocations for the code of a fragment, which has a separate
  /// numbering of them.
  void numberAllocations(const RankPlan &plan, const PlannedCall &call);
  bool isPersistent(const Tensor &tensor) const;
  /// Whether the tensor is a gradient that the next function overwrites.
  bool isTransientGradient(const Tensor &tensor) const;
  std::byte *getAddress(const Tensor &tensor) const;

  Program emittedProgram;
  std::unique_ptr<Device> ownDevice;
  std::vector<int64_t> degrees;
  std::vector<int64_t> coordinates;
  std::unique_ptr<FlightRecorder> flight; // outlives the lanes of `collectives`, which record
  Collectives collectives;
  Pipelines pipelines;
  Arena memory;
  std::vector<int64_t> offsets; // of persistent allocations: those of the running microbatch
  std::vector<int64_t> fragmentOffsets; // likewise, in the order of the running fragment's code
  Context context;
  std::unique_ptr<RankMessages> messages; // of pipelines; null without
  std::optional<GradientCopies> gradients;
  std::vector<bool> prepared; // per function
};

} // namespace titan::rt
