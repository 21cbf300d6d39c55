// The factor that an axis shards.

#include "dialects/dist/Analysis/AxisAssignment.h"
#include <algorithm>
#include <numeric>

using namespace titan::dist;

size_t titan::dist::getPreference(const AxisInfo &axis, const std::string &name,
                                  const std::string &origin) {
  auto begin = axis.preference.begin(), end = axis.preference.end();
  auto at = std::find(begin, end, name);
  if (at == end && !origin.empty())
    at = std::find(begin, end, origin);
  return at - begin;
}

bool titan::dist::canSplit(int64_t size, int64_t degree, const AxisInfo &axis) {
  if (size <= 1)
    return false;
  const int64_t blocks = axis.isHeadTail ? 2 * axis.degree : axis.degree;
  return axis.degree == 0 || size % (blocks * std::max<int64_t>(degree, 1)) == 0;
}

int titan::dist::findJointFactor(const ShardingRule &rule, int factor, const AxisInfo &axis) {
  const bool isRing = axis.attention == AttentionSplit::QueriesAndKeys && rule.attention;
  return isRing && factor == rule.attention->queries ? rule.attention->keys : -1;
}

static int findFactor(const ShardingRule &rule, std::vector<int> Factor::*dims, size_t value,
                      int dim) {
  for (size_t f = 0; f < rule.factors.size(); ++f)
    if (dim >= 0 && (rule.factors[f].*dims)[value] == dim)
      return static_cast<int>(f);
  return -1;
}

int titan::dist::findOperandFactor(const ShardingRule &rule, size_t operand, int dim) {
  return findFactor(rule, &Factor::operandDims, operand, dim);
}

int titan::dist::findResultFactor(const ShardingRule &rule, size_t result, int dim) {
  return findFactor(rule, &Factor::resultDims, result, dim);
}

/// Whether all partial operands are in `set` and may be forwarded, all others are replicated, and
/// those of them in `set` are scalars.
static bool canForward(const std::vector<unsigned> &set, const AxisUse &use,
                       const ValueSizes &sizes) {
  for (size_t i = 0; i < use.operands.size(); ++i) {
    bool inSet = std::find(set.begin(), set.end(), i) != set.end();
    if (use.operands[i] == kPartial ? !inSet || !sizes.mayForward[i]
                                    : use.operands[i] != kReplicated)
      return false;
    if (inSet && use.operands[i] == kReplicated && sizes.operands[i] != 1)
      return false;
  }
  return true;
}

std::optional<int> titan::dist::findForwardingSet(const ShardingRule &rule, const AxisUse &use,
                                                  const ValueSizes &sizes) {
  int64_t partial = 0;
  for (size_t i = 0; i < use.operands.size(); ++i)
    if (use.operands[i] == kPartial)
      partial += sizes.operands[i];
  if (partial == 0 ||
      std::accumulate(sizes.results.begin(), sizes.results.end(), int64_t{0}) > partial)
    return std::nullopt;
  for (size_t s = 0; s < rule.linearSets.size(); ++s)
    if (canForward(rule.linearSets[s], use, sizes))
      return static_cast<int>(s);
  return std::nullopt;
}

/// Whether the axis shards the factor in every operand that has it, and at least one has it.
static bool isSplitEverywhere(const Factor &factor, const AxisUse &use) {
  bool any = false;
  for (size_t i = 0; i < use.operands.size(); ++i) {
    if (factor.operandDims[i] < 0)
      continue;
    if (use.operands[i] != factor.operandDims[i])
      return false;
    any = true;
  }
  return any;
}

/// The elements of a value on a rank, of the factors that other axes have split.
static int64_t getLocalSize(const ShardingRule &rule, std::vector<int> Factor::*dims, size_t value,
                            int64_t size, const std::vector<int64_t> &degrees) {
  for (size_t f = 0; f < rule.factors.size(); ++f)
    if ((rule.factors[f].*dims)[value] >= 0)
      size /= std::max<int64_t>(degrees[f], 1);
  return size;
}

/// Whether a rank sends less if the axis splits the sum over `factor`, which it splits in some of
/// the operands, than if it gathers all operands that it splits: the others move to the factor, and
/// the results are reduced.
static bool isCheaperSplit(const ShardingRule &rule, size_t f, const AxisUse &use,
                           const ValueSizes &sizes, const AxisInfo &axis,
                           const std::vector<int64_t> &degrees) {
  if (sizes.operands.empty())
    return false;
  const Factor &factor = rule.factors[f];
  int64_t gathered = 0, moved = 0, reduced = 0;
  bool isSplit = false;
  for (size_t i = 0; i < use.operands.size(); ++i) {
    if (use.operands[i] < 0)
      continue;
    const int64_t size = getLocalSize(rule, &Factor::operandDims, i, sizes.operands[i], degrees);
    gathered += size;
    if (factor.operandDims[i] < 0)
      moved += size;
    else if (use.operands[i] == factor.operandDims[i])
      isSplit = true;
    else
      moved += size / std::max<int64_t>(axis.degree, 2);
  }
  for (size_t r = 0; r < sizes.results.size(); ++r)
    reduced += 2 * getLocalSize(rule, &Factor::resultDims, r, sizes.results[r], degrees);
  return isSplit && moved + reduced < gathered;
}

static bool isReduction(FactorKind kind) {
  return kind == FactorKind::Sum || kind == FactorKind::Max || kind == FactorKind::Min;
}

static bool isFlatEverywhere(const ShardingRule &rule, const AxisUse &use) {
  auto isFlat = [](int dim) { return dim == kFlat; };
  if (rule.contractsFlat)
    return !use.operands.empty() && std::all_of(use.operands.begin(), use.operands.end(), isFlat);
  return rule.isElementwise && std::any_of(use.results.begin(), use.results.end(), isFlat);
}

Assignment titan::dist::assignAxis(const ShardingRule &rule, const AxisUse &use,
                                   const ValueSizes &sizes, const AxisInfo &axis,
                                   const std::vector<int64_t> &degrees) {
  if (std::optional<int> set = findForwardingSet(rule, use, sizes))
    return {Assignment::ForwardPartial, -1, *set};
  if (isFlatEverywhere(rule, use))
    return {Assignment::Flat};
  Assignment best;
  size_t bestPreference = 0;
  auto offer = [&](int f) {
    const Factor &factor = rule.factors[f];
    size_t preference = getPreference(axis, factor.name, factor.origin);
    if (factor.kind == FactorKind::Replicated || !canSplit(factor.size, degrees[f], axis) ||
        (best.kind == Assignment::Split && preference >= bestPreference))
      return;
    best = {Assignment::Split, f};
    bestPreference = preference;
  };
  for (size_t f = 0; f < rule.factors.size(); ++f)
    if (isReduction(rule.factors[f].kind) && isSplitEverywhere(rule.factors[f], use))
      offer(static_cast<int>(f));
  for (size_t r = 0; r < use.results.size(); ++r)
    if (int f = findResultFactor(rule, r, use.results[r]); f >= 0)
      offer(f);
  for (size_t f = 0; best.kind != Assignment::Split && f < rule.factors.size(); ++f)
    if (rule.factors[f].kind == FactorKind::Sum &&
        isCheaperSplit(rule, f, use, sizes, axis, degrees))
      offer(static_cast<int>(f));
  if (axis.attention == AttentionSplit::Heads && rule.attention &&
      best.factor == rule.attention->queries) {
    const int heads = rule.attention->heads;
    if (heads >= 0 && canSplit(rule.factors[heads].size, degrees[heads], axis))
      best.factor = heads;
  }
  return best;
}
