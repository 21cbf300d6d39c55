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

static constexpr StringLiteral kIterations = "iterations", kParts = "parts";

static bool areFirst(ArrayRef<int64_t> parts) {
  return parts == ArrayRef(countUpTo(parts.size()));
}

static Attribute getIterationsAttr(Builder &builder, ArrayRef<std::vector<int64_t>> iterations) {
  if (iterations.size() == 1 &&
      ArrayRef(iterations[0]) == ArrayRef(countUpTo(iterations[0].size())))
    return builder.getUnitAttr();
  SmallVector<Attribute> lists;
  for (const std::vector<int64_t> &list : iterations)
    lists.push_back(builder.getDenseI64ArrayAttr(list));
  return builder.getArrayAttr(lists);
}

Attribute titan::ir::getStackedAttr(Builder &builder, ArrayRef<std::vector<int64_t>> iterations,
                                    ArrayRef<int64_t> parts) {
  Attribute slots = getIterationsAttr(builder, iterations);
  if (areFirst(parts))
    return slots;
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kIterations, slots),
       builder.getNamedAttr(kParts, builder.getDenseI64ArrayAttr(parts))});
}

Stack titan::ir::getStack(Attribute stacked, NamedTensorType type) {
  Stack stack;
  auto named = dyn_cast_or_null<DictionaryAttr>(stacked);
  Attribute slots = named ? named.get(kIterations) : stacked;
  if (isa_and_nonnull<UnitAttr>(slots))
    stack.iterations.push_back(countUpTo(type.getDims().front().getSize()));
  else if (auto lists = dyn_cast_or_null<ArrayAttr>(slots))
    for (auto list : lists.getAsRange<DenseI64ArrayAttr>())
      stack.iterations.emplace_back(list.asArrayRef());
  stack.parts = countUpTo(stack.iterations.size());
  auto parts = named ? named.getAs<DenseI64ArrayAttr>(kParts) : DenseI64ArrayAttr();
  if (parts && parts.size() == static_cast<int64_t>(stack.parts.size()))
    stack.parts.assign(parts.asArrayRef().begin(), parts.asArrayRef().end());
  return stack;
}

unsigned titan::ir::getStackedLevels(Attribute stacked) {
  if (auto named = dyn_cast_or_null<DictionaryAttr>(stacked))
    stacked = named.get(kIterations);
  if (auto lists = dyn_cast_or_null<ArrayAttr>(stacked))
    return lists.size();
  return isa_and_nonnull<UnitAttr>(stacked) ? 1 : 0;
}

bool titan::ir::hasDefaultParts(const Stack &stack) {
  return areFirst(stack.parts);
}

SmallVector<std::string> titan::ir::getSlotNames(StringRef name, const Stack &stack,
                                                 unsigned prefixParts) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  SmallVector<std::string> names{""};
  size_t level = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    for (std::string &each : names)
      each += (i ? "." : "") + part.str();
    if (level == stack.iterations.size() ||
        stack.parts[level] + prefixParts != static_cast<int64_t>(i))
      continue;
    SmallVector<std::string> slots;
    for (const std::string &each : names)
      for (int64_t iteration : stack.iterations[level])
        slots.push_back(each + "." + std::to_string(iteration));
    names = std::move(slots);
    ++level;
  }
  return names;
}
