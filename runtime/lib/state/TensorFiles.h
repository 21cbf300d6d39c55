// Parameters, optimizer state and gradients between the arena and files, independent of the mesh:
// every rank reads and writes just the elements it holds, at their global place. Files are
// safetensors; a stacked tensor is exchanged layer by layer ("layers.3.wq").
//
// The directory must be visible to all ranks, as run directories on clusters are.
#pragma once

#include "Executor.h"

#include "weights/WeightStore.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// Makes a directory that files are written to; `what` it is, for the message where that fails.
void makeDirectory(const std::string &path, const char *what);

/// Parameters by their distributions, seed and names; the same bits on any mesh.
void initializeParameters(Executor &executor, uint64_t seed);

/// Reads all tensors of these roles; a store that holds others, or other shapes, is refused by
/// name. Another floating-point type is converted.
void loadTensors(Executor &executor, const WeightStore &store, std::span<const Role> roles);

/// Writes all tensors of these roles into one file, which is durable. Every rank calls it.
void saveTensors(Executor &executor, const std::string &path, std::span<const Role> roles,
                 const std::map<std::string, std::string> &metadata = {});

/// Writes DIRECTORY/STEM-00001-of-0000N.safetensors, each of at most so many bytes of tensors (but
/// one tensor at least), and syncs them; their names are durable once the caller has synced the
/// directory. How the tensors are cut does not depend on the mesh. Every rank calls it.
std::vector<Shard> saveShards(Executor &executor, const std::string &directory,
                              const std::string &stem, std::span<const Role> roles,
                              int64_t shardBytes);

} // namespace titan::rt
