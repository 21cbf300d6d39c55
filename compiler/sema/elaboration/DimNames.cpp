// Resolves and creates names of dimensions.
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/ElementTypes.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

Binding *findDimInCallers(const std::string &name, const Frame *from) {
  for (Frame *at = from ? from->lexicalParent : nullptr; at; at = at->lexicalParent) {
    Binding *found = at->scope->find(name);
    if (found && found->mayBeDim)
      return found;
  }
  return nullptr;
}

std::vector<DimId> DimNames::asDims(const std::string &name, Binding &binding, Location at) {
  if (!binding.dims.empty() || binding.value.isError())
    return binding.dims;
  auto refuse = [&](std::string why) {
    Diagnostic &diag =
        report(Code::NotADimension, at, "`" + name + "` cannot be a dimension: " + why);
    diag.note(binding.loc, "`" + name + "` comes from here");
    if (binding.value.isTensor() && getTensorType(binding.value).dtype == DType::I64)
      diag.help("to index by it, name the indexed dimension: `x[vocab: " + name + "]`");
    if (binding.mayBeDim)
      binding.value = {}; // reported already; a tensor may be valid elsewhere
    return std::vector<DimId>();
  };
  if (!binding.mayBeDim)
    return refuse(std::string("it is ") + binding.value.describe());
  if (!binding.value.isInt()) {
    std::string shown = binding.value.print();
    bool isInteger = shown.find_first_not_of("-0123456789") == std::string::npos;
    return refuse("its value is " + shown + (isInteger ? ".0" : "") + ", not an integer");
  }
  if (binding.value.integer < 1)
    return refuse("its size would be " + binding.value.print());
  binding.dims = {dimOfNumber(name, binding.value.integer, binding.loc)};
  return binding.dims;
}

DimId DimNames::dimOfNumber(const std::string &name, int64_t size, const Location &where) {
  auto [entry, isNew] =
      ofNumbers.try_emplace({name, size, where.line, where.col, static_cast<uint32_t>(where.file)});
  if (isNew)
    entry->second = model.dims.add(name, size);
  return entry->second;
}

std::vector<DimId> DimNames::resolveDims(const Path &path) {
  if (!path.isSimple()) {
    report(Code::UnknownDimension, path.loc, "no dimension is named `" + path.text() + "` here");
    return {};
  }
  Binding *binding = lookup(path.last());
  if (!binding) {
    elaboration.reports.unknownDim(path.last());
    return {};
  }
  return asDims(path.last().text, *binding, path.loc);
}

std::vector<DimId> DimNames::dimsAfter(const Arg &arg) {
  std::vector<DimId> all;
  for (const Path &path : arg.dims->from) {
    std::vector<DimId> dims = resolveDims(path);
    if (dims.empty())
      return {};
    for (DimId dim : dims) {
      if (std::find(all.begin(), all.end(), dim) != all.end()) {
        report(Code::DimensionTwice, path.loc,
               "dimension `" + model.dims[dim].name + "` appears twice here");
        return {};
      }
      all.push_back(dim);
    }
  }
  return all;
}

DimId DimNames::namedIn(const Expr &expr) {
  auto *name = expr.as<NameExpr>();
  Binding *known = name && name->path.isSimple() ? lookup(name->path.last()) : nullptr;
  if (!known || !known->mayBeDim || !known->value.isInt())
    return noDim;
  // A number that a call passes would become another dimension in every call.
  if (known->dims.empty() && context.frame->caller)
    return noDim;
  std::vector<DimId> ids = asDims(name->path.last().text, *known, expr.loc);
  return ids.size() == 1 ? ids[0] : noDim;
}

std::optional<DimId> DimNames::resolveDim(const Path &path) {
  std::vector<DimId> dims = resolveDims(path);
  if (dims.size() > 1)
    report(Code::NotADimension, path.loc,
           "`" + path.text() + "` names several dimensions here; one is needed");
  return dims.size() == 1 ? std::optional(dims[0]) : std::nullopt;
}

std::optional<DimSet> DimNames::dimSet(const DimList &list) {
  DimSet set;
  bool good = true;
  if (list.dims.size() > maxDims) {
    report(Code::TooLarge, list.loc,
           "a tensor has at most " + std::to_string(maxDims) + " dimensions");
    return std::nullopt;
  }
  for (const DimRef &ref : list.dims) {
    std::vector<DimId> dims = resolveDims(ref.dim);
    if (ref.rename && !dims.empty())
      dims = renamedDims(*ref.rename, ref.hides, dims, ref.loc);
    good &= !dims.empty();
    for (DimId id : dims) {
      if (set.insert(id))
        continue;
      report(Code::DimensionTwice, ref.loc,
             "dimension `" + model.dims[id].name + "` appears twice in one tensor")
          .help("give the second one a name of its own: `" + ref.dim.text() + " as other`");
      good = false;
    }
  }
  return good ? std::optional(set) : std::nullopt;
}

DimId DimNames::derivedDim(DimId from, const std::string &name, int64_t size, Location at,
                           DimId extent) {
  if (extent != noDim)
    extent = model.dims[extent].extent;
  auto key = std::make_tuple(from, extent, name, size, at.line, static_cast<uint32_t>(at.file));
  auto [entry, fresh] = derived.try_emplace(key, 0);
  if (!fresh)
    return entry->second;
  entry->second = from == noDim ? model.dims.add(name, size) : model.dims.derive(from, name, size);
  if (extent != noDim)
    model.dims.setExtent(entry->second, extent);
  return entry->second;
}

bool DimNames::haveEqualExtents(const std::vector<DimId> &dims,
                                const std::vector<DimId> &others) const {
  return std::equal(dims.begin(), dims.end(), others.begin(), others.end(),
                    [&](DimId a, DimId b) { return model.dims[a].extent == model.dims[b].extent; });
}

/// Equal sizes are no reason to take two dimensions for one: other sizes would then decide whether
/// a program is legal.
void DimNames::refuseHiding(const Name &name, const Binding &known, DimId from) {
  const std::string &source = model.dims[from].name;
  const bool isDim = !known.dims.empty();
  Diagnostic &diag = report(Code::RenameHides, name.loc,
                            "`" + name.text + "` is " +
                                (isDim ? "another dimension than `" + source + "`"
                                       : "already " + std::string(known.value.describe())));
  diag.note(known.getDeclaration(), "`" + name.text + "` comes from here");
  diag.help("choose another name; `" + source + " as new " + name.text + "` hides the other `" +
            name.text + "`" +
            (isDim ? ", and `dims " + name.text + " = " + source +
                         "` declares a dimension that always has the size of `" + source + "`"
                   : ""));
}

std::vector<DimId> DimNames::renamedDims(const Name &name, bool hides,
                                         const std::vector<DimId> &from, Location at) {
  Binding *known = hides ? nullptr : lookup(name);
  if (known && known->value.isError() && known->dims.empty())
    known = nullptr; // reported already
  if (known && known->mayBeDim && known->value.isInt())
    asDims(name.text, *known, name.loc);
  if (known && !known->dims.empty() && haveEqualExtents(known->dims, from))
    return known->dims;
  if (known) {
    refuseHiding(name, *known, from[0]);
    return {};
  }
  std::vector<DimId> made;
  for (size_t i = 0; i < from.size(); ++i)
    made.push_back(derivedDim(from[i],
                              from.size() == 1 ? name.text : name.text + "_" + std::to_string(i),
                              model.dims[from[i]].size, at, from[i]));
  Value size = from.size() == 1 ? Value::ofInt(model.dims[from[0]].size) : Value::none();
  context.frame->scope->define(name.text, {size, made, true, name.loc, "dimension"});
  return made;
}

DimId DimNames::findOrCreate(const Name &name, DimId from, int64_t size) {
  Binding *known = lookup(name);
  if (known && known->mayBeDim && known->value.isInt()) {
    if (known->value.integer != size) {
      report(Code::BadDimensionSize, name.loc,
             "`" + name.text + "` has " + known->value.print() + " elements, but " +
                 std::to_string(size) + " are needed here")
          .note(known->loc, "`" + name.text + "` comes from here");
      return noDim;
    }
    std::vector<DimId> ids = asDims(name.text, *known, name.loc);
    return ids.size() == 1 ? ids[0] : noDim;
  }
  DimId made = derivedDim(from, name.text, size, name.loc);
  context.frame->scope->define(name.text,
                               {Value::ofInt(size), {made}, true, name.loc, "dimension"});
  return made;
}

std::optional<DType> DimNames::resolveDType(const Name &name) {
  static const std::map<std::string, DType> dtypes = {{"f32", DType::F32},
                                                      {"f64", DType::F64},
                                                      {"bf16", DType::BF16},
                                                      {"int", DType::I64},
                                                      {"bool", DType::Bool}};
  auto found = dtypes.find(name.text);
  if (found != dtypes.end())
    return found->second;
  if (name.text == "f16")
    reportHalf(name.loc, diags);
  else
    report(Code::UnknownDType, name.loc, "`" + name.text + "` is not an element type")
        .help("the element types are f32, f64, bf16, int and bool");
  return std::nullopt;
}

} // namespace titan::sema
