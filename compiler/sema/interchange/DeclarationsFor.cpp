#include "compiler/sema/interchange/DeclarationsFor.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

std::vector<Symbol> declarationsFor(Symbol model, const Unit &unit, const Library &library,
                                    const GetModel &getModel) {
  std::vector<const Unit *> visible = {&unit};
  for (const auto &[name, import] : unit.namespaces)
    visible.push_back(import.unit);
  std::vector<Symbol> found;
  constexpr size_t maxLength = 64; // of a derivation; extendChain() reports longer ones
  for (size_t i = 0; model && i < maxLength; ++i) {
    std::vector<const Unit *> units = visible;
    if (std::find(units.begin(), units.end(), model.unit) == units.end())
      units.push_back(model.unit);
    for (const Unit *one : units)
      for (const DeclPtr &decl : one->module->decls)
        if (const Path *path = getModel(*decl);
            path && library.lookup(*one, *path).decl == model.decl)
          found.push_back({decl.get(), one});
    auto *alias = model.decl->as<ModelAliasDecl>();
    model = alias ? library.lookup(*model.unit, alias->base) : Symbol{};
  }
  return found;
}

} // namespace titan::sema
