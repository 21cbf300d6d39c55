// Identity and order of fragments.

#include "dialects/dist/Transforms/Stages/FragmentKey.h"

using namespace titan::dist;

std::string FragmentKey::getName() const {
  std::string name = stringifyFragmentKind(kind).str() + "." + std::to_string(stage);
  bool hasLevels = kind == FragmentKind::Update || kind == FragmentKind::Evaluate;
  return hasLevels ? name + "." + std::to_string(level) : name;
}

bool ExecutionOrder::operator()(const FragmentKey &a, const FragmentKey &b) const {
  auto getPosition = [](const FragmentKey &key) {
    int64_t stage = key.kind == FragmentKind::Backward ? -key.stage : key.stage;
    return std::tuple(key.kind, key.level, stage);
  };
  return getPosition(a) < getPosition(b);
}
