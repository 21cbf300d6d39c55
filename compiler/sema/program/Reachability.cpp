#include "compiler/sema/program/Reachability.h"

#include <algorithm>

namespace titan::sema {

Reachability::Reachability(const Model &model, const std::vector<ValueId> &roots, bool updates)
    : values(roots.begin(), roots.end()), updates(updates) {
  walk(model.body);
}

static bool hasUpdate(const Op &op) {
  auto inBody = [](const Region &body) {
    return std::any_of(body.ops.begin(), body.ops.end(), hasUpdate);
  };
  return op.kind == OpKind::Update || std::any_of(op.body.begin(), op.body.end(), inBody);
}

bool Reachability::needs(const Op &op) const {
  if (updates && (op.kind == OpKind::Update || op.kind == OpKind::Repeat) && hasUpdate(op))
    return true;
  return std::any_of(op.results.begin(), op.results.end(),
                     [&](ValueId id) { return values.count(id) != 0; });
}

void Reachability::walk(const Region &region) {
  values.insert(region.yields.begin(), region.yields.end());
  for (auto op = region.ops.rbegin(); op != region.ops.rend(); ++op) {
    if (!needs(*op))
      continue;
    values.insert(op->operands.begin(), op->operands.end());
    if (op->kind == OpKind::Parameter || op->kind == OpKind::Update)
      parameters.insert(op->index);
    isRandom |= op->kind == OpKind::Random;
    hasDropout |= op->kind == OpKind::Dropout;
    usesStep |= op->kind == OpKind::Step;
    if (op->kind == OpKind::Input)
      inputs.insert(op->index);
    for (const Region &body : op->body)
      walk(body);
  }
}

} // namespace titan::sema
