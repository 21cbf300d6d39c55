//===- Stacked.cpp - Tensors that hold what iterations own ----------------===//

#include "dialects/titan/IR/Stacked.h"

#include <numeric>

using namespace mlir;
using namespace titan::ir;

static SmallVector<int64_t> countUpTo(int64_t count) {
  SmallVector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Attribute titan::ir::getStackedAttr(Builder &builder, ArrayRef<std::vector<int64_t>> iterations) {
  if (iterations.size() == 1 &&
      ArrayRef(iterations[0]) == ArrayRef(countUpTo(iterations[0].size())))
    return builder.getUnitAttr();
  SmallVector<Attribute> lists;
  for (const std::vector<int64_t> &list : iterations)
    lists.push_back(builder.getDenseI64ArrayAttr(list));
  return builder.getArrayAttr(lists);
}

StackedIterations titan::ir::getStackedIterations(Attribute stacked, NamedTensorType type) {
  StackedIterations iterations;
  if (isa_and_nonnull<UnitAttr>(stacked))
    iterations.push_back(countUpTo(type.getDims().front().getSize()));
  else if (auto lists = dyn_cast_or_null<ArrayAttr>(stacked))
    for (auto list : lists.getAsRange<DenseI64ArrayAttr>())
      iterations.emplace_back(list.asArrayRef());
  return iterations;
}

SmallVector<std::string>
titan::ir::getSlotNames(StringRef name, const StackedIterations &iterations, unsigned prefixParts) {
  // Each repeat gave the name one part, behind which its iteration goes.
  auto [part, rest] = name.split('.');
  if (prefixParts > 0 || iterations.empty()) {
    SmallVector<std::string> names{name.str()};
    if (prefixParts > 0 && !iterations.empty()) {
      names = getSlotNames(rest, iterations, prefixParts - 1);
      for (std::string &each : names)
        each = part.str() + "." + each;
    }
    return names;
  }
  StackedIterations inner(llvm::drop_begin(iterations));
  SmallVector<std::string> names;
  for (int64_t iteration : iterations.front()) {
    std::string start = part.str() + "." + std::to_string(iteration);
    if (rest.empty())
      names.push_back(start);
    else
      for (const std::string &each : getSlotNames(rest, inner))
        names.push_back(start + "." + each);
  }
  return names;
}
