#include "compiler/sema/elaboration/Positions.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

namespace {

constexpr int64_t bound = int64_t{1} << 31; // products of two stay within 64 bits

bool isSmall(const Positions &positions, const DimTable &dims) {
  int64_t reach = std::abs(positions.base);
  for (const auto &[dim, step] : positions.steps) {
    if (std::abs(step) > bound || dims[dim].size > bound || reach > bound)
      return false;
    reach += std::abs(step) * (dims[dim].size - 1);
  }
  return reach <= bound;
}

Positions scaled(const Positions &from, int64_t factor) {
  Positions result{from.base * factor, from.steps};
  for (auto &[dim, step] : result.steps)
    step *= factor;
  return result;
}

Positions sum(const Positions &a, const Positions &b) {
  Positions result = a;
  result.base += b.base;
  for (const auto &[dim, step] : b.steps)
    result.steps[dim] += step;
  return result;
}

/// The positions of a slice of dimension `old` from index `start` on, which is called `fresh`.
Positions moved(Positions from, DimId old, DimId fresh, int64_t start) {
  auto found = from.steps.find(old);
  if (found == from.steps.end())
    return from;
  int64_t step = found->second;
  from.steps.erase(found);
  from.base += step * start;
  from.steps[fresh] += step;
  return from;
}

std::optional<Positions> followElementwise(const std::string &word, const Positions &a,
                                           const Positions &b) {
  if (word == "add")
    return sum(a, b);
  if (word == "sub")
    return sum(a, scaled(b, -1));
  if (word == "mul" && b.steps.empty())
    return scaled(a, b.base);
  if (word == "mul" && a.steps.empty())
    return scaled(b, a.base);
  return std::nullopt;
}

std::optional<Positions> follow(const Op &op, const std::vector<const Positions *> &operands) {
  switch (op.kind) {
  case OpKind::Iota:
    return Positions{0, {{op.dims[0], 1}}};
  case OpKind::Constant:
    if (std::abs(op.number) > bound || op.number != std::floor(op.number))
      return std::nullopt;
    return Positions{static_cast<int64_t>(op.number), {}};
  case OpKind::Expand:
  case OpKind::ShardingConstraint:
  case OpKind::StopGradient:
    return *operands[0];
  case OpKind::Rename:
    return moved(*operands[0], op.dims[0], op.dims[1], 0);
  case OpKind::Slice:
    return moved(*operands[0], op.dims[0], op.dims[1], op.index);
  case OpKind::Elementwise:
    if (op.word == "neg")
      return scaled(*operands[0], -1);
    return operands.size() == 2 ? followElementwise(op.word, *operands[0], *operands[1])
                                : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace

Positions::Range Positions::range(const DimTable &dims) const {
  Range range{base, base};
  for (const auto &[dim, step] : steps)
    (step < 0 ? range.least : range.most) += step * (dims[dim].size - 1);
  return range;
}

std::optional<Positions> followPositions(const Op &op, const DimTable &dims,
                                         const std::vector<const Positions *> &operands) {
  if (std::count(operands.begin(), operands.end(), nullptr))
    return std::nullopt;
  std::optional<Positions> result = follow(op, operands);
  return result && isSmall(*result, dims) ? result : std::nullopt;
}

} // namespace titan::sema
