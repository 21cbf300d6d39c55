// A report on the weights from which a program starts: one row for each parameter and for each
// stored tensor.
#pragma once

#include "base/weights/WeightSource.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

struct WeightRow {
  enum class Outcome {
    Loaded,
    Partial, ///< the first elements are those of the tensor, the others initial values
    Fresh,   ///< initial values
    Ignored, ///< a tensor without a parameter
  };
  Outcome outcome;
  std::string parameter; ///< layers.3.wq; empty: Ignored
  std::string tensor;    ///< as its file calls it; empty: Fresh
  std::string source;    ///< `--init-from`'s text; empty: Fresh
  std::string reason;    ///< for all outcomes but Loaded
};

/// Short sentences: how many tensors of each source were read, and the names of unread tensors and
/// of parameters without stored values.
std::vector<std::string> summarise(std::span<const WeightRow> rows,
                                   std::span<const WeightSource> sources);

/// All rows, with a heading; columns are separated by tabs.
std::string toText(std::span<const WeightRow> rows);

/// "'a', 'b' and 3 more".
std::string listSome(const std::vector<std::string> &names);

} // namespace titan::rt
