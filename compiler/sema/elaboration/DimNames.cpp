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
  binding.dims = {model.dims.add(name, binding.value.integer)};
  return binding.dims;
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
    good &= !dims.empty();
    for (DimId dim : dims) {
      DimId id = ref.rename ? namedDim(*ref.rename, dim, model.dims[dim].size, ref.loc) : dim;
      if (set.insert(id))
        continue;
      report(Code::DimensionTwice, ref.loc,
             "dimension `" + model.dims[id].name + "` appears twice in one tensor")
          .help("give the second one a name of its own: `" + ref.dim.text() + " as other`");
      good = false;
    }
    if (ref.rename && !dims.empty()) {
      DimId id = namedDim(*ref.rename, dims[0], model.dims[dims[0]].size, ref.loc);
      Value size = Value::ofInt(model.dims[id].size);
      context.frame->scope->define(ref.rename->text,
                                   {size, {id}, true, ref.rename->loc, "dimension"});
    }
  }
  return good ? std::optional(set) : std::nullopt;
}

DimId DimNames::derivedDim(DimId from, const std::string &name, int64_t size, Location at) {
  auto key = std::make_tuple(from, name, size, at.line, static_cast<uint32_t>(at.file));
  auto [entry, fresh] = derived.try_emplace(key, 0);
  if (fresh)
    entry->second =
        from == noDim ? model.dims.add(name, size) : model.dims.derive(from, name, size);
  return entry->second;
}

DimId DimNames::namedDim(const Name &name, DimId from, int64_t size, Location at) {
  Binding *known = lookup(name);
  bool isKnownDim = known && known->dims.size() == 1 && model.dims[known->dims[0]].size == size;
  return isKnownDim ? known->dims[0] : derivedDim(from, name.text, size, at);
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
