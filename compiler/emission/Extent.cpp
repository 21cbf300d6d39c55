//===- Extent.cpp - Sizes as products of named factors --------------------===//

#include "compiler/emission/Extent.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan::emission;

Extent Extent::operator*(const Extent &other) const {
  Extent product = *this;
  llvm::append_range(product.factors, other.factors);
  return product;
}

static std::pair<int64_t, llvm::SmallVector<std::string>>
normalise(llvm::ArrayRef<Factor> factors) {
  int64_t known = 1;
  llvm::SmallVector<std::string> names;
  for (const Factor &factor : factors) {
    if (factor.value)
      known *= factor.value;
    else
      names.push_back(factor.name);
  }
  llvm::sort(names);
  return {known, names};
}

bool Extent::operator==(const Extent &other) const {
  return normalise(factors) == normalise(other.factors);
}

std::optional<int64_t> Extent::getValue() const {
  auto [known, names] = normalise(factors);
  return names.empty() ? std::optional<int64_t>(known) : std::nullopt;
}

std::string Extent::str() const {
  llvm::SmallVector<std::string> names;
  for (const Factor &factor : factors)
    if (factor.value != 1)
      names.push_back(factor.name);
  return names.empty() ? "1" : llvm::join(names, " * ");
}

std::string Extent::atom() const {
  auto count = llvm::count_if(factors, [](const Factor &factor) { return factor.value != 1; });
  return count > 1 ? "(" + str() + ")" : str();
}

std::string titan::emission::scale(llvm::StringRef index, const Extent &extent) {
  std::string size = extent.atom();
  return size == "1" ? index.str() : (index + " * " + size).str();
}
