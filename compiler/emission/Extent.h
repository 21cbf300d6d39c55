//===- Extent.h - Sizes as products of named factors ------------*- C++ -*-===//
//
// A size or stride in emitted code is a product such as `batch_shard * seq * embed`, written with
// names so that the source reads like the model and a depth of 6 or 60 changes one constant. Values
// that are fixed at launch (`auto` degrees) have a name but no number. Plain data, without IR.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_EXTENT_H
#define TITAN_COMPILER_EMISSION_EXTENT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan::emission {

struct Factor {
  std::string name;  ///< an expression that needs no parentheses
  int64_t value = 0; ///< 0: known at launch only
};

class Extent {
public:
  Extent() = default;
  Extent(Factor factor) : factors{std::move(factor)} {}

  Extent operator*(const Extent &other) const;
  /// Equal for every degree: the same names of launch-time factors and the same product of others.
  bool operator==(const Extent &other) const;
  bool isOne() const { return *this == Extent(); }
  /// The number, where it is known.
  std::optional<int64_t> getValue() const;
  /// `a * b * c`; `1` for the empty product.
  std::string str() const;
  /// `str()` in parentheses where it is a product, for use as a factor.
  std::string atom() const;

private:
  std::vector<Factor> factors;
};

/// `index * extent`, without what is superfluous.
std::string scale(llvm::StringRef index, const Extent &extent);

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_EXTENT_H
