// Tensors with a slot per iteration.

#include "dialects/titan/IR/Stacked.h"

#include <numeric>

using namespace mlir;
using namespace titan::ir;

static SmallVector<int64_t> countUpTo(int64_t count) {
  SmallVector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

static constexpr StringLiteral kIterations = "iterations", kSegments = "segments";

static bool areFirst(ArrayRef<int64_t> segments) {
  return segments == ArrayRef(countUpTo(segments.size()));
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
                                    ArrayRef<int64_t> segments) {
  Attribute slots = getIterationsAttr(builder, iterations);
  if (areFirst(segments))
    return slots;
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kIterations, slots),
       builder.getNamedAttr(kSegments, builder.getDenseI64ArrayAttr(segments))});
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
  stack.segments = countUpTo(stack.iterations.size());
  auto segments = named ? named.getAs<DenseI64ArrayAttr>(kSegments) : DenseI64ArrayAttr();
  if (segments && segments.size() == static_cast<int64_t>(stack.segments.size()))
    stack.segments.assign(segments.asArrayRef().begin(), segments.asArrayRef().end());
  return stack;
}

unsigned titan::ir::getStackedLevels(Attribute stacked) {
  if (auto named = dyn_cast_or_null<DictionaryAttr>(stacked))
    stacked = named.get(kIterations);
  if (auto lists = dyn_cast_or_null<ArrayAttr>(stacked))
    return lists.size();
  return isa_and_nonnull<UnitAttr>(stacked) ? 1 : 0;
}

bool titan::ir::hasDefaultSegments(const Stack &stack) {
  return areFirst(stack.segments);
}

SmallVector<std::string> titan::ir::getSlotNames(StringRef name, const Stack &stack,
                                                 unsigned prefixSegments) {
  SmallVector<StringRef> segments;
  name.split(segments, '.');
  SmallVector<std::string> names{""};
  size_t level = 0;
  for (auto [i, segment] : llvm::enumerate(segments)) {
    for (std::string &each : names)
      each += (i ? "." : "") + segment.str();
    if (level == stack.iterations.size() ||
        stack.segments[level] + prefixSegments != static_cast<int64_t>(i))
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
