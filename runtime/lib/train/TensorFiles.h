// Parameters, optimizer state and gradients between the arena and files, independent of the mesh:
// every rank reads and writes just the elements it holds, at their global place. Files are
// safetensors; a stacked tensor is exchanged layer by layer ("layers.3.wq").
//
// The directory must be visible to all ranks, as run directories on clusters are.
#pragma once

#include "Session.h"

#include <map>
#include <span>
#include <string>

namespace titan::rt {

/// Parameters by their distributions, seed and names; the same bits on any mesh.
void initializeParameters(Session &session, uint64_t seed);

/// Reads all tensors of these roles; a file that holds others, or other shapes, is refused by name.
/// A file of another floating-point type is converted.
void loadTensors(Session &session, const std::string &path, std::span<const Role> roles);

/// Writes all tensors of these roles into one file. Every rank calls it.
void saveTensors(Session &session, const std::string &path, std::span<const Role> roles,
                 const std::map<std::string, std::string> &metadata = {});

} // namespace titan::rt
