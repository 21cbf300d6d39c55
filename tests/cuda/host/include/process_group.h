// The subset of LibTorch's NCCL groups that Titan uses, between processes of one machine. All
// headers of c10d that NcclGroup.cpp includes resolve to this file.
#pragma once

#include "tensors.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace c10 {

template <typename T> struct intrusive_ptr : std::shared_ptr<T> {
  using std::shared_ptr<T>::shared_ptr;
  static intrusive_ptr reclaim_copy(T *) { return {}; } // members meet without the store
};
template <typename T, typename... Arguments>
intrusive_ptr<T> make_intrusive(Arguments &&...arguments) {
  return intrusive_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

} // namespace c10

namespace c10d {

struct ReduceOp {
  enum RedOpType { SUM, MIN, MAX };
};
class Store {};
class HashStore : public Store {};
class PrefixStore : public Store {
public:
  PrefixStore(std::string, c10::intrusive_ptr<Store>) {}
};
struct AllreduceOptions {
  ReduceOp::RedOpType reduceOp = ReduceOp::SUM;
};
using AllreduceCoalescedOptions = AllreduceOptions;
using ReduceScatterOptions = AllreduceOptions;
struct BroadcastOptions {
  int rootRank = 0;
};
struct BarrierOptions {
  std::vector<int64_t> device_ids;
};

class Work {
public:
  Work(cudaStream_t stream, uint64_t number) : stream(stream), number(number) {}
  void wait(); // the current stream waits
  bool isCompleted() const;
  std::exception_ptr exception() const { return nullptr; }

private:
  cudaStream_t stream;
  uint64_t number;
};

class ProcessGroupNCCL {
public:
  struct Options {
    static c10::intrusive_ptr<Options> create() { return c10::make_intrusive<Options>(); }
    std::chrono::milliseconds timeout{0};
    std::string group_name;
    std::vector<uint64_t> global_ranks_in_group;
  };
  using Started = c10::intrusive_ptr<Work>;
  using Tensors = std::vector<at::Tensor>;

  ProcessGroupNCCL(c10::intrusive_ptr<Store>, int rank, int size, c10::intrusive_ptr<Options>);
  ~ProcessGroupNCCL();
  void abort() {}
  /// Creates the communicator; otherwise, the first collective creates it.
  void eagerConnectSingleDevice(c10::Device);
  /// The collectives in between are in the order of their calls; the last one represents all.
  void startCoalescing() {}
  Started endCoalescing() { return last; }

  Started allreduce(Tensors &, const AllreduceOptions &);
  Started allreduce_coalesced(Tensors &, const AllreduceCoalescedOptions &);
  Started _allgather_base(at::Tensor &to, at::Tensor &from);
  Started allgather_into_tensor_coalesced(Tensors &to, Tensors &from);
  Started _reduce_scatter_base(at::Tensor &to, at::Tensor &from, const ReduceScatterOptions &);
  Started reduce_scatter_tensor_coalesced(Tensors &to, Tensors &from, const ReduceScatterOptions &);
  /// Without counts, every member sends and receives equally much.
  Started alltoall_base(at::Tensor &to, at::Tensor &from, const std::vector<int64_t> &received,
                        const std::vector<int64_t> &sent);
  Started broadcast(Tensors &, const BroadcastOptions &);
  Started barrier(const BarrierOptions &);

private:
  struct Shared;
  /// `give` fills this member's slot; after a barrier, `take` reads the slots of all members.
  struct Collective {
    std::function<void()> give, take;
  };
  Started start(const std::vector<Collective> &);
  void give(const at::Tensor &from);
  void reduce(const at::Tensor &to, int64_t start, ReduceOp::RedOpType);
  void arrive();
  bool isComplete() const; // the barrier at which this member waits: all have arrived
  void awaitOthers();
  void meet(); // arrives and awaits the others

  std::string name;
  int position, size;
  cudaStream_t stream = nullptr; // once there is a communicator
  Started last;
  std::unique_ptr<Shared> shared;
};

} // namespace c10d
