// Parameters, optimizer state and gradients in files, independent of the mesh and of pipelines:
// every rank reads and writes only its shards of the tensors that it has. Files are safetensors; a
// stacked tensor is stored layer by layer ("layers.3.wq").
//
// The directory must be visible to all ranks.
#pragma once

#include "Executor.h"

#include "weights/WeightStore.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// Creates an output directory; `what` describes it in the error message.
void makeDirectory(const std::string &path, const char *what);

/// Initialises the rank's parameters from their distributions, seed and names; the same bits on any
/// mesh.
void initializeParameters(Executor &executor, uint64_t seed);

/// Sets the rank's optimizer state to zero, as before the first step.
void clearState(Executor &executor);

/// Reads all tensors of these roles. Other tensors or shapes in the store are refused by name.
/// Other floating-point types are converted.
void loadTensors(Executor &executor, const WeightStore &store, std::span<const Role> roles);

/// Writes all tensors of these roles into one file, durably. Collective.
void saveTensors(Executor &executor, const std::string &path, std::span<const Role> roles,
                 const std::map<std::string, std::string> &metadata = {});

/// Writes and syncs files of the tensors of these roles. Their names are durable once the caller
/// syncs the directory. The division into files does not depend on the mesh. Collective.
std::vector<Shard> saveShards(Executor &executor, const ShardFiles &files,
                              std::span<const Role> roles);

} // namespace titan::rt
