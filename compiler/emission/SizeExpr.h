// Sizes as products of named factors.
//
// A size or stride in emitted code is a product such as `batch_shard_ * seq_ * embed_`. Named
// factors make the source resemble the model, and a depth of 6 or 60 changes only one constant.
// Sizes fixed at launch (`auto` degrees) have a name but no number. Plain data, without IR.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan::emission {

struct SizeFactor {
  std::string name;  ///< an expression that needs no parentheses
  int64_t value = 0; ///< 0: known at launch only
};

class SizeExpr {
public:
  SizeExpr() = default;
  SizeExpr(SizeFactor factor) : factors{std::move(factor)} {}

  SizeExpr operator*(const SizeExpr &other) const;
  /// Equality for every degree: the same launch-time factors and the same product of the others.
  bool operator==(const SizeExpr &other) const;
  bool isOne() const { return *this == SizeExpr(); }
  /// The number, if it is known.
  std::optional<int64_t> getValue() const;
  /// `a * b * c`; `1` for the empty product.
  std::string str() const;
  /// `str()`, in parentheses if it is a product, for use as a factor.
  std::string atom() const;

private:
  std::vector<SizeFactor> factors;
};

/// `index * extent`, simplified.
std::string scale(llvm::StringRef index, const SizeExpr &extent);

} // namespace titan::emission
