// Weights of other software, read as the parameters of a program by its weight map.
#pragma once

#include "WeightStore.h"
#include "base/weights/StridedLayout.h"

#include <map>
#include <set>

namespace titan::rt {

/// One iteration of a parameter, as a program needs it.
struct NeededWeights {
  std::string parameter;           ///< layers.wq
  std::vector<int64_t> iterations; ///< {3}
  bool isOptional = false;         ///< keeps its initial values where the files lack it
};

class MappedWeights {
public:
  /// `map` and `store` must outlive this.
  MappedWeights(const WeightMap &map, const WeightStore &store);

  /// Errors, by name, unless the store holds exactly the tensors that the map names for these
  /// weights, in their shapes; copies must be equal to their originals.
  void check(std::span<const NeededWeights> needed);
  /// Whether the store holds these weights. After `check`.
  bool has(const NeededWeights &needed) const;
  /// Reads elements [first, first + count) of one iteration, row-major, into out (F32, F64, BF16).
  void readRange(const NeededWeights &needed, int64_t first, int64_t count, DType type,
                 void *out) const;

  /// Of the last `check`: parameters that keep their initial values, and stored tensors that the
  /// model does not need.
  const std::vector<std::string> &fresh() const { return freshNames; }
  const std::vector<std::string> &unused() const { return unusedNames; }
  /// Lets go of what was read of the files.
  void release() const { store.release(); }
  int64_t countTensors() const { return static_cast<int64_t>(used.size()); }

private:
  struct Entry {
    const StoredParameter *stored;
    StridedLayout layout;
  };
  const Entry &entryOf(const NeededWeights &needed) const;
  void checkTensor(const StoredParameter &stored, const std::string &name) const;
  void checkCopy(const std::string &copy, const std::string &original) const;
  void checkRest();

  const WeightMap &map;
  const WeightStore &store;
  std::map<std::string, Entry> entries; ///< by parameter
  std::set<std::string> used;           ///< stored tensors
  std::vector<std::string> freshNames, unusedNames;
};

} // namespace titan::rt
