// Sizes as products of named factors.

#include "compiler/emission/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan::emission;

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  SizeExpr product = *this;
  llvm::append_range(product.factors, other.factors);
  return product;
}

/// The product of the known factors, and the sorted names of the others.
static std::pair<int64_t, llvm::SmallVector<std::string>>
normalise(llvm::ArrayRef<SizeFactor> factors) {
  int64_t known = 1;
  llvm::SmallVector<std::string> names;
  for (const SizeFactor &factor : factors) {
    if (factor.value)
      known *= factor.value;
    else
      names.push_back(factor.name);
  }
  llvm::sort(names);
  return {known, names};
}

bool SizeExpr::operator==(const SizeExpr &other) const {
  return normalise(factors) == normalise(other.factors);
}

std::optional<int64_t> SizeExpr::getValue() const {
  auto [known, names] = normalise(factors);
  return names.empty() ? std::optional<int64_t>(known) : std::nullopt;
}

std::string SizeExpr::str() const {
  llvm::SmallVector<std::string> names;
  for (const SizeFactor &factor : factors)
    if (factor.value != 1)
      names.push_back(factor.name);
  return names.empty() ? "1" : llvm::join(names, " * ");
}

std::string SizeExpr::atom() const {
  auto count = llvm::count_if(factors, [](const SizeFactor &factor) { return factor.value != 1; });
  return count > 1 ? "(" + str() + ")" : str();
}

std::string titan::emission::scale(llvm::StringRef index, const SizeExpr &extent) {
  std::string size = extent.atom();
  return size == "1" ? index.str() : (index + " * " + size).str();
}
