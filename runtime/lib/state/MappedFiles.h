// Parameters in files of other software: names and layouts are those of the program's weight map.
#pragma once

#include "Executor.h"

#include "weights/MappedWeights.h"

namespace titan::rt {

/// Whether the store has a parameter of the program under the program's own name.
bool hasOwnNames(Executor &executor, const WeightStore &store);

/// Reads the parameters; each rank reads its shards only. Optional parameters that the store lacks
/// keep their values.
void loadMapped(Executor &executor, MappedWeights &weights);

/// Writes the parameters as DIRECTORY/STEM-00001-of-0000N.safetensors, as saveShards does. The
/// files do not depend on the mesh. Collective.
std::vector<Shard> saveMapped(Executor &executor, const std::string &directory,
                              const std::string &stem, int64_t shardBytes);

} // namespace titan::rt
