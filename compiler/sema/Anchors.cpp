// Values whose dimensions are declared: they are checked, and the parallel map binds them by name.
#include "compiler/sema/Elaborator.h"

namespace titan::sema {

std::string Elaborator::nameForMaps(const std::string &name) const {
  std::string calls, repeats;
  for (const Frame *at = frame; at && at->caller; at = at->caller)
    calls = at->prefix + nameOf(*at->decl).text + "." + calls;
  for (const Loop &loop : loops)
    repeats += model.dims[loop.dim].name + ".";
  return repeats + calls + name;
}

/// The value with its declared dimensions checked, recorded as an anchor of the parallel map.
Value Elaborator::anchor(Value value, const DimSet &declared, Location declaredAt,
                         Location valueLoc) {
  const TensorType type = typeOf(value);
  DimSet missing = declared.without(type.dims), extra = type.dims.without(declared);
  if (missing.empty() && extra.empty()) {
    Op op(OpKind::Anchor, {value.tensor});
    op.names = {nameForMaps(variable)};
    return emit(std::move(op), type, valueLoc);
  }
  std::string what;
  if (!missing.empty())
    what = quote(missing) + (missing.size() == 1 ? " is" : " are") +
           " declared, but the value has " +
           (missing.size() == 1 ? "no such dimension" : "no such dimensions");
  if (!extra.empty())
    what += (what.empty() ? "" : ", and ") + quote(extra) +
            (extra.size() == 1 ? " is a dimension" : " are dimensions") +
            " of the value that the declaration lacks";
  Diagnostic &diag = report(Code::DeclaredDimensionsDiffer, declaredAt, what);
  diag.note(valueLoc, "the value has " + print(type.dims));
  if (!extra.empty())
    diag.help("nothing is summed silently: write `sum(x, over " + model.dims[extra[0]].name +
              ")`, or add the dimension");
  else
    diag.help("nothing is repeated silently: write `expand(x, " + model.dims[missing[0]].name +
              ")`, or leave the dimension out");
  return {};
}

} // namespace titan::sema
