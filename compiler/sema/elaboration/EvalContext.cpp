// Prefixes of names declared in an evaluation context.
#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

NamePrefix EvalContext::prefix(const DimTable &dims, bool withCallees) const {
  std::vector<const Frame *> calls; // outermost first
  for (const Frame *at = frame; at; at = at->caller)
    calls.insert(calls.begin(), at);
  NamePrefix prefix;
  int64_t segments = 0;
  auto loop = loops.begin();
  for (const Frame *call : calls) {
    prefix.text += call->prefix;
    segments += call->prefix.empty() ? 0 : 1;
    if (withCallees && call->caller) // a model is not called
      prefix.text += getName(*call->decl).text + ".";
    for (; loop != loops.end() && loop->frame == call; ++loop) {
      prefix.text += dims[loop->dim].name + ".";
      prefix.repeatSegments.push_back(segments++);
    }
  }
  return prefix;
}

} // namespace titan::sema
