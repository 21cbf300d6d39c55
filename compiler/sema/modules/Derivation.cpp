#include "compiler/sema/modules/Derivation.h"

#include <algorithm>
#include <tuple>

namespace titan::sema {

bool extendChain(std::vector<Derivation> &chain, Derivation next, const char *kind,
                 DiagnosticEngine &diags) {
  constexpr size_t maxLength = 64;
  auto again = std::find_if(chain.begin(), chain.end(),
                            [&](const Derivation &known) { return known.name == next.name; });
  bool isCycle = again != chain.end();
  if (!isCycle && chain.size() < maxLength) {
    chain.push_back(next);
    return true;
  }
  if (!isCycle) {
    diags.report(Code::AliasCycle, next.base,
                 std::string(kind) + " `" + next.name->text + "` is the end of a chain of over " +
                     std::to_string(maxLength) + " " + kind + "s");
    return false;
  }
  std::vector<Derivation> cycle(again, chain.end());
  auto position = [](const Derivation &one) {
    return std::make_tuple(one.base.file, one.base.line, one.base.col);
  };
  auto first = std::min_element(cycle.begin(), cycle.end(),
                                [&](auto &a, auto &b) { return position(a) < position(b); });
  std::rotate(cycle.begin(), first, cycle.end());
  std::string message = std::string(kind) + " `" + cycle[0].name->text + "` derives from itself";
  if (cycle.size() > 1) {
    message = std::string(kind) + "s derive from one another: ";
    for (const Derivation &one : cycle)
      message += one.name->text + " -> ";
    message += cycle[0].name->text;
  }
  Diagnostic &diag = diags.report(Code::AliasCycle, cycle[0].base, message);
  for (size_t i = 1; i < cycle.size(); ++i)
    diag.note(cycle[i].base, "`" + cycle[i].name->text + "` derives from this declaration");
  return false;
}

} // namespace titan::sema
