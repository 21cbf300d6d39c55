// `split`, `merge` and `concat`: one dimension becomes several, several become one, by name.
//
//   split(x, head as (pair, two))          sizes multiply; at most one of the new names is unknown
//   merge(x, (heads, head) as embed)
//   concat(a along nope, b along rope as qk)
#include "compiler/sema/Elaborator.h"

namespace titan::sema {

using namespace syntax;

const std::set<std::string> &Elaborator::reshapingFunctions() {
  static const std::set<std::string> names = {"split", "merge", "concat", "top_k"};
  return names;
}

Value Elaborator::callReshaping(const CallExpr &expr) {
  const std::string &name = expr.callee.last().text;
  if (name == "concat")
    return concat(expr);
  if (name == "top_k")
    return topK(expr);
  bool twoArgs = expr.args.size() == 2 && expr.args[0].kind == ArgKind::Positional &&
                 expr.args[0].value && !expr.args[0].along && expr.args[1].dims &&
                 !expr.args[1].value && expr.args[1].kind == ArgKind::Positional;
  const DimBinding *binding = twoArgs ? &*expr.args[1].dims : nullptr;
  bool isSplit = name == "split";
  bool fits = binding && (isSplit ? binding->from.size() == 1 && binding->to.size() > 1
                                  : binding->from.size() > 1 && binding->to.size() == 1);
  if (!fits) {
    report(Code::BadArgument, expr.loc,
           isSplit ? "write `split(x, head as (pair, two))`"
                   : "write `merge(x, (heads, head) as embed)`");
    return {};
  }
  Value base = eval(*expr.args[0].value);
  if (!expectTensor(base, expr.args[0].loc, ("what `" + name + "` takes").c_str()))
    return {};
  std::vector<DimId> from;
  for (const Path &path : binding->from) {
    std::optional<DimId> dim = dimOf(path);
    if (!dim)
      return {};
    if (!typeOf(base).dims.contains(*dim)) {
      report(Code::DimensionNotThere, path.loc,
             "the tensor has no dimension `" + path.text() + "`; it has " +
                 print(typeOf(base).dims));
      return {};
    }
    from.push_back(*dim);
  }
  return isSplit ? split(base, from[0], *binding) : merge(base, from, *binding);
}

/// The dimension that a name stands for, or a new one of this size. noDim, once reported, if the
/// name is a dimension of another size.
DimId Elaborator::newOrKnown(const Name &name, DimId from, int64_t size) {
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
  frame->scope->define(name.text, {Value::ofInt(size), {made}, true, name.loc, "dimension"});
  return made;
}

Value Elaborator::split(const Value &base, DimId dim, const DimBinding &binding) {
  int64_t size = model.dims[dim].size, known = 1;
  const Name *open = nullptr;
  std::vector<int64_t> sizes;
  for (const Name &name : binding.to) {
    Binding *found = lookup(name);
    bool sized = found && found->mayBeDim && found->value.isInt() && found->value.integer > 0;
    sizes.push_back(sized ? found->value.integer : 0);
    if (sized) // beyond the whole it does not matter by how much
      known = known && found->value.integer <= size / known ? known * found->value.integer : 0;
    if (!sized && open) {
      report(Code::BadDimensionSize, name.loc,
             "of `" + open->text + "` and `" + name.text + "` one must have a known size")
          .help("declare it: `dims " + name.text + " = 2`");
      return {};
    }
    if (!sized)
      open = &name;
  }
  if (known == 0 || size % known || (!open && known != size)) {
    report(Code::BadDimensionSize, binding.loc,
           "`" + model.dims[dim].name + "` has " + std::to_string(size) +
               " elements, which the parts of known size do not make up");
    return {};
  }
  TensorType type = typeOf(base);
  DimSet dims;
  for (DimId id : type.dims) {
    if (id != dim) {
      dims.insert(id);
      continue;
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      DimId part = newOrKnown(binding.to[i], dim, sizes[i] ? sizes[i] : size / known);
      if (part == noDim)
        return {};
      dims.insert(part);
    }
  }
  if (dims.size() != type.dims.size() + sizes.size() - 1) {
    report(Code::DimensionTwice, binding.loc, "the tensor would have a dimension twice");
    return {};
  }
  Op op(OpKind::Split, {base.tensor});
  op.dims = {dim};
  return emit(std::move(op), {type.dtype, dims}, binding.loc);
}

Value Elaborator::merge(Value base, const std::vector<DimId> &from, const DimBinding &binding) {
  TensorType type = typeOf(base);
  int64_t size = 1;
  for (DimId id : from)
    size *= model.dims[id].size;
  DimId into = newOrKnown(binding.to[0], from[0], size);
  if (into == noDim)
    return {};
  DimSet parts, ordered, dims;
  for (DimId id : from)
    parts.insert(id);
  for (DimId id : type.dims) { // the parts move together, to where the first of them stands
    if (id == from[0]) {
      ordered = ordered.unite(parts);
      dims.insert(into);
    } else if (!parts.contains(id)) {
      ordered.insert(id);
      if (!dims.insert(id)) {
        report(Code::DimensionTwice, binding.loc,
               "the tensor has `" + model.dims[into].name + "` already");
        return {};
      }
    }
  }
  if (parts.size() != from.size() || dims.size() != type.dims.size() - from.size() + 1) {
    report(Code::DimensionTwice, binding.loc, "a dimension is merged twice");
    return {};
  }
  if (!(ordered == type.dims))
    base = emit(Op(OpKind::Expand, {base.tensor}), {type.dtype, ordered}, binding.loc);
  Op op(OpKind::Merge, {base.tensor});
  op.dims = {into};
  return emit(std::move(op), {type.dtype, dims}, binding.loc);
}

Value Elaborator::concat(const CallExpr &expr) {
  struct Part {
    Value value;
    DimId dim;
    Location loc;
  };
  std::vector<Part> parts;
  const Name *as = nullptr;
  int64_t size = 0;
  for (const Arg &arg : expr.args) {
    if (arg.kind != ArgKind::Positional || !arg.value || !arg.along ||
        arg.along->from.size() != 1) {
      report(Code::BadArgument, arg.loc, "write `concat(a along nope, b along rope as qk)`");
      return {};
    }
    Value value = eval(*arg.value);
    if (!expectTensor(value, arg.loc, "what `concat` takes"))
      return {};
    std::optional<DimId> dim = dimOf(arg.along->from[0]);
    if (!dim)
      return {};
    if (!typeOf(value).dims.contains(*dim)) {
      report(Code::DimensionNotThere, arg.along->loc,
             "the tensor has no dimension `" + model.dims[*dim].name + "`; it has " +
                 print(typeOf(value).dims));
      return {};
    }
    if (!arg.along->to.empty())
      as = &arg.along->to[0];
    size += model.dims[*dim].size;
    parts.push_back({value, *dim, arg.loc});
  }
  if (parts.size() < 2 || !as) {
    report(Code::BadArgument, expr.loc,
           "`concat` takes two tensors or more, the last with the name of the whole: "
           "`concat(a along nope, b along rope as qk)`");
    return {};
  }
  DimId whole = newOrKnown(*as, parts[0].dim, size);
  if (whole == noDim)
    return {};
  Value sum;
  int64_t offset = 0;
  for (const Part &part : parts) { // a concatenation is a sum of the parts padded with zeros
    TensorType type = typeOf(part.value);
    DimSet dims;
    for (DimId id : type.dims)
      dims.insert(id == part.dim ? whole : id);
    Op op(OpKind::Pad, {part.value.tensor});
    op.dims = {part.dim, whole};
    op.index = offset;
    Value padded = emit(std::move(op), {type.dtype, dims}, part.loc);
    offset += model.dims[part.dim].size;
    if (!sum.isTensor()) {
      sum = padded;
      continue;
    }
    if (!typeOf(sum).dims.sameDims(dims)) {
      report(Code::DeclaredDimensionsDiffer, part.loc,
             "the parts of `concat` differ in more than the dimension they are put along: " +
                 print(typeOf(sum).dims) + " and " + print(dims));
      return {};
    }
    sum = elementwise("add", sum, padded, expr.loc, parts[0].loc, part.loc);
  }
  return sum;
}

} // namespace titan::sema
