// One rank's running program: its tensors in the arena, its place in the mesh, and the way to call
// its functions. Training and generation are written on top of it.
#pragma once

#include "Arena.h"

#include "ShardLayout.h"
#include "collectives/Collectives.h"
#include "metrics/Metrics.h"
#include "titan/runtime/program.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

class Executor {
public:
  /// `degrees` are resolved (resolveDegrees), and divide what they split.
  Executor(Program program, std::vector<int64_t> degrees, World &world,
           std::unique_ptr<Device> device);

  /// Complains of sizes that degrees do not divide.
  static void checkDivisibility(const Program &program, const std::vector<int64_t> &degrees);

  const Program &program() const { return info; }
  const Arena &arena() const { return memory; }
  World &world() { return collectives.worldOf(); }
  const Mesh &mesh() const { return collectives.meshOf(); }
  bool isFirst() { return world().rank() == 0; }

  /// Null if the program has none. `function` also matches tensors that all functions share.
  const Tensor *find(Role role, const std::string &name, const std::string &function) const;
  /// Where a tensor lies. What a function gives is there until another one runs.
  std::byte *dataOf(const Tensor &tensor) const;
  Device &device() const { return *ownDevice; }
  /// A tensor's parts that files know: a stacked one's for each iteration, or the whole.
  struct Slots {
    TensorInfo info; ///< of one
    int64_t count;
    int64_t bytes;  ///< of one on this rank
    int64_t stride; ///< bytes from one to the next, between which others may lie
  };
  Slots slotsOf(const Tensor &tensor) const;
  /// The host's view of this rank's part of a tensor that lies in one piece.
  HostView view(const Tensor &tensor, HostView::Access access) const;
  ShardLayout layoutOf(const TensorInfo &tensor) const;

  /// What the running function sees; names the place it has come to.
  const Context &running() const { return context; }
  /// Where functions mark what they do from now on; null: nowhere.
  void setTrace(Trace *trace) { context.trace = trace; }
  bool hasFunction(const std::string &name) const;
  /// Makes what a function will use of a device and of the ranks' devices, so that its first run
  /// does what every other one does: queue work. On processors there is nothing to make. Runs do it
  /// themselves unless it was done before.
  void prepare(const std::string &function);
  /// Runs a function of the program on this rank's data; an exception names the source line.
  void run(const std::string &function);

  /// A rank-0 tensor as a number; NaN if the program has none of this name.
  double readScalar(const std::string &name, const std::string &function) const;
  /// The losses with names that a function gives; of evaluation also the one that has none, as "",
  /// beside others.
  NamedLosses readLosses(const std::string &function) const;
  /// The greatest that the ranks' mean would be if each of them alone made it: what a rank adds to
  /// the output, times the number of ranks that do. Nothing where the ranks have no summands. All
  /// ranks call it.
  std::optional<double> readMaxUnreduced(const std::string &name, const std::string &function);
  void writeScalar(const std::string &name, double value);

  /// The greatest of what the ranks have, for each of a few small whole numbers. All ranks call it.
  void maxOverRanks(std::span<float> values);
  int maxOverRanks(int value);
  /// True on every rank if it is true on any.
  bool anyRank(bool value);
  /// The value that rank 0 has.
  int64_t broadcastFromFirst(int64_t value);
  void barrier(const char *action);

private:
  size_t functionIndex(const std::string &name) const;
  void runFunction(size_t index);

  Program info;
  std::unique_ptr<Device> ownDevice;
  std::vector<int64_t> degrees;
  std::vector<int64_t> coordinates;
  Collectives collectives;
  Arena memory;
  Context context;
  std::vector<bool> prepared; // by function
};

} // namespace titan::rt
