// The shards of a program's tensors on one rank, and the names of their slots in files.
// base/layout/ShardLayout.h computes the elements of a shard. Plain data, no communication.
//
// `degree` and `coordinate` hold one number per mesh axis. Degrees must divide the sizes of the
// dimensions that they shard (checkDivisible).
#pragma once

#include "base/layout/ShardLayout.h"
#include "titan/runtime/program.h"

#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// The tensor's sharding with the coordinates of a rank.
TensorSharding makeSharding(const TensorInfo &info, std::span<const int64_t> degree,
                            std::span<const int64_t> coordinate);

/// Whether this rank writes its shard to files. Of the ranks with the same shard, it is the one
/// with coordinate 0 on all axes that do not shard the tensor.
bool isShardWriter(const TensorInfo &info, std::span<const int64_t> coordinate);

/// The index of the rank's shard; equal on ranks with equal shards.
int64_t getShardIndex(const TensorInfo &info, std::span<const int64_t> degree,
                      std::span<const int64_t> coordinate);

/// The info of one slot of a stacked tensor: without its leading dimension, or without `levels` of
/// them for nested repeats.
TensorInfo layerInfo(const TensorInfo &stacked, size_t levels = 1);

/// The name of one slot: {3} of "layers.wq" is "layers.3.wq". For nested repeats, {1, 3} of
/// "outer.inner.wq" is "outer.1.inner.3.wq". {3} of the state "m.layers.wq" is "m.layers.3.wq".
std::string layerName(const Tensor &tensor, std::span<const int64_t> iterations);

/// Per leading dimension of a stacked tensor, the iterations of its slots; empty for other tensors.
std::vector<std::vector<int64_t>> stackedIterations(const Tensor &tensor);

/// The iterations of each slot of a stacked tensor, row-major; one without iterations for other
/// tensors.
std::vector<std::vector<int64_t>> listSlots(const Tensor &tensor);

/// An error text for a size that degrees do not divide: "batch = 8 cannot be split by shard = 3
/// ...".
std::string checkDivisible(const TensorInfo &info, std::span<const Axis> mesh,
                           std::span<const int64_t> degree);

} // namespace titan::rt
