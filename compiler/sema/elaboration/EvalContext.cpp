// Prefixes of names declared in an evaluation context.
#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

bool EvalContext::isTraining() const {
  const Frame *at = frame;
  while (at && at->isTraining)
    at = at->caller;
  return !at;
}

const Frame *EvalContext::sharedCall() const {
  const Frame *at = frame;
  while (at && !at->sharedWithin)
    at = at->caller;
  return at;
}

std::span<const Loop> EvalContext::numberingLoops() const {
  const Frame *shared = sharedCall();
  return std::span(loops).subspan(shared ? *shared->sharedWithin : 0);
}

NamePrefix EvalContext::prefix(const DimTable &dims, bool withCallees) const {
  std::vector<const Frame *> calls; // outermost first
  for (const Frame *at = frame; at; at = at->caller)
    calls.insert(calls.begin(), at);
  NamePrefix prefix;
  int64_t segments = 0;
  const std::span<const Loop> numbering = numberingLoops();
  auto loop = numbering.begin();
  for (const Frame *call : calls) {
    prefix.text += call->prefix;
    segments += call->prefix.empty() ? 0 : 1;
    if (withCallees && call->caller && !call->component) // names of values do not contain models
      prefix.text += getName(*call->decl).text + ".";
    for (; loop != numbering.end() && loop->frame == call; ++loop) {
      prefix.text += dims[loop->dim].name + ".";
      prefix.repeatSegments.push_back(segments++);
    }
  }
  return prefix;
}

} // namespace titan::sema
