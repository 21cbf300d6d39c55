// Reads and writes parameters in files of this or other software: their names and layouts are those
// of the program or of its weight map.
#pragma once

#include "Executor.h"

#include "weights/StartingWeights.h"

namespace titan::rt {

/// What loadStartingWeights has read.
struct ReadWeights {
  std::vector<WeightRow> rows; ///< of all parameters and tensors
  /// The element types of tensors with the names of the weight map, by these names.
  std::map<std::string, std::string> types;
};

/// Refuses weights from which the program cannot start: names, shapes and types of their tensors.
/// Reads no numbers, except of copies of tensors. Not collective.
void checkStartingWeights(const Program &program, std::span<const WeightSource> sources);

/// Reads the parameters; each rank reads its shards only. Optional parameters without weights keep
/// their values.
ReadWeights loadStartingWeights(Executor &executor, std::span<const WeightSource> sources,
                                std::span<const WeightStore> stores);

/// The parameters of the model, or those that only its adapters have.
enum class Mapped { Model, Adapters };

/// Writes the parameters in the names and layouts of the weight map. The files do not depend on the
/// mesh. Collective.
std::vector<Shard> saveMapped(Executor &executor, const ShardFiles &files, Mapped which);

} // namespace titan::rt
