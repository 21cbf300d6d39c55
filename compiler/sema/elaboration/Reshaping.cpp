#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

using namespace syntax;

const std::set<std::string> &Reshaping::functions() {
  static const std::set<std::string> names = {"split", "merge", "concat", "top_k"};
  return names;
}

Value Reshaping::call(const CallExpr &expr) {
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
    std::optional<DimId> dim = resolveDim(path);
    if (!dim)
      return {};
    if (!getTensorType(base).dims.contains(*dim)) {
      report(Code::DimensionNotThere, path.loc,
             "the tensor has no dimension `" + path.text() + "`; it has " +
                 print(getTensorType(base).dims));
      return {};
    }
    from.push_back(*dim);
  }
  return isSplit ? split(base, from[0], *binding) : merge(base, from, *binding);
}

Value Reshaping::split(const Value &base, DimId dim, const DimBinding &binding) {
  int64_t size = model.dims[dim].size, known = 1;
  const Name *open = nullptr;
  std::vector<int64_t> sizes;
  for (const Name &name : binding.to) {
    Binding *found = lookup(name);
    bool sized = found && found->mayBeDim && found->value.isInt() && found->value.integer > 0;
    sizes.push_back(sized ? found->value.integer : 0);
    if (sized) // 0 if the product exceeds `size`
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
               " elements, which the known sizes do not divide");
    return {};
  }
  TensorType type = getTensorType(base);
  DimSet dims;
  for (DimId id : type.dims) {
    if (id != dim) {
      dims.insert(id);
      continue;
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      DimId newDim =
          elaboration.dims.findOrCreate(binding.to[i], dim, sizes[i] ? sizes[i] : size / known);
      if (newDim == noDim)
        return {};
      dims.insert(newDim);
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

Value Reshaping::merge(Value base, const std::vector<DimId> &from, const DimBinding &binding) {
  TensorType type = getTensorType(base);
  int64_t size = 1;
  for (DimId id : from)
    size *= model.dims[id].size;
  DimId into = elaboration.dims.findOrCreate(binding.to[0], from[0], size);
  if (into == noDim)
    return {};
  DimSet merged, ordered, dims;
  for (DimId id : from)
    merged.insert(id);
  for (DimId id : type.dims) { // moves all of them to the position of the first
    if (id == from[0]) {
      ordered = ordered.unite(merged);
      dims.insert(into);
    } else if (!merged.contains(id)) {
      ordered.insert(id);
      if (!dims.insert(id)) {
        report(Code::DimensionTwice, binding.loc,
               "the tensor has `" + model.dims[into].name + "` already");
        return {};
      }
    }
  }
  if (merged.size() != from.size() || dims.size() != type.dims.size() - from.size() + 1) {
    report(Code::DimensionTwice, binding.loc, "a dimension is merged twice");
    return {};
  }
  if (!(ordered == type.dims))
    base = emit(Op(OpKind::Expand, {base.tensor}), {type.dtype, ordered}, binding.loc);
  Op op(OpKind::Merge, {base.tensor});
  op.dims = {into};
  return emit(std::move(op), {type.dtype, dims}, binding.loc);
}

std::optional<Reshaping::ConcatOperand> Reshaping::concatOperand(const Arg &arg) {
  if (arg.kind != ArgKind::Positional || !arg.value || !arg.along || arg.along->from.size() != 1) {
    report(Code::BadArgument, arg.loc, "write `concat(a along nope, b along rope as qk)`");
    return std::nullopt;
  }
  Value value = eval(*arg.value);
  if (!expectTensor(value, arg.loc, "an operand of `concat`"))
    return std::nullopt;
  std::optional<DimId> dim = resolveDim(arg.along->from[0]);
  if (!dim)
    return std::nullopt;
  if (!getTensorType(value).dims.contains(*dim)) {
    report(Code::DimensionNotThere, arg.along->loc,
           "the tensor has no dimension `" + model.dims[*dim].name + "`; it has " +
               print(getTensorType(value).dims));
    return std::nullopt;
  }
  return ConcatOperand{value, *dim, arg.loc};
}

/// A concatenation is a sum of the operands padded with zeros.
Value Reshaping::concatenate(const std::vector<ConcatOperand> &operands, DimId resultDim,
                             Location at) {
  Value sum;
  int64_t offset = 0;
  for (const ConcatOperand &operand : operands) {
    TensorType type = getTensorType(operand.value);
    DimSet dims;
    for (DimId id : type.dims)
      dims.insert(id == operand.dim ? resultDim : id);
    Op op(OpKind::Pad, {operand.value.tensor});
    op.dims = {operand.dim, resultDim};
    op.index = offset;
    Value padded = emit(std::move(op), {type.dtype, dims}, operand.loc);
    offset += model.dims[operand.dim].size;
    if (!sum.isTensor()) {
      sum = padded;
      continue;
    }
    if (!getTensorType(sum).dims.sameDims(dims)) {
      report(Code::DeclaredDimensionsDiffer, operand.loc,
             "the operands of `concat` differ in more than their concatenated dimension: " +
                 print(getTensorType(sum).dims) + " and " + print(dims));
      return {};
    }
    sum = elaboration.tensors.elementwise("add", sum, padded, at, operands[0].loc, operand.loc);
  }
  return sum;
}

Value Reshaping::concat(const CallExpr &expr) {
  std::vector<ConcatOperand> operands;
  const Name *as = nullptr;
  int64_t size = 0;
  for (const Arg &arg : expr.args) {
    std::optional<ConcatOperand> next = concatOperand(arg);
    if (!next)
      return {};
    if (!arg.along->to.empty())
      as = &arg.along->to[0];
    size += model.dims[next->dim].size;
    operands.push_back(std::move(*next));
  }
  if (operands.size() < 2 || !as) {
    report(Code::BadArgument, expr.loc,
           "`concat` takes two tensors or more, the last with the name of the result: `concat(a "
           "along nope, b along rope as qk)`");
    return {};
  }
  DimId resultDim = elaboration.dims.findOrCreate(*as, operands[0].dim, size);
  return resultDim == noDim ? Value() : concatenate(operands, resultDim, expr.loc);
}

/// `top_k(x, 2, over experts as chosen)`: values and indices, with a new dimension.
Value Reshaping::topK(const CallExpr &expr) {
  const Arg *over = expr.args.size() == 3 ? &expr.args[2] : nullptr;
  bool fits = over && over->kind == ArgKind::Over && over->dims && over->dims->from.size() == 1 &&
              over->dims->to.size() == 1;
  for (size_t i = 0; fits && i < 2; ++i)
    fits = expr.args[i].kind == ArgKind::Positional && expr.args[i].value;
  if (!fits) {
    report(Code::BadArgument, expr.loc, "write `top_k(x, 2, over experts as chosen)`");
    return {};
  }
  Value x = eval(*expr.args[0].value), count = eval(*expr.args[1].value);
  std::optional<DimId> dim = resolveDim(over->dims->from[0]);
  if (count.isError() || !dim ||
      !expectTensor(x, expr.args[0].loc, "the first argument of `top_k`"))
    return {};
  const TensorType type = getTensorType(x);
  if (!type.dims.contains(*dim)) {
    report(Code::DimensionNotThere, over->loc,
           "the tensor has no dimension `" + model.dims[*dim].name + "`; it has " +
               print(type.dims));
    return {};
  }
  if (!count.isInt() || count.integer < 1 || count.integer > model.dims[*dim].size) {
    report(Code::BadDimensionSize, expr.args[1].loc,
           "`top_k` chooses 1 to " + std::to_string(model.dims[*dim].size) + " of `" +
               model.dims[*dim].name + "`, not " + count.print());
    return {};
  }
  DimId chosen = elaboration.dims.findOrCreate(over->dims->to[0], *dim, count.integer);
  if (chosen == noDim)
    return {};
  DimSet dims;
  for (DimId id : type.dims)
    if (!dims.insert(id == *dim ? chosen : id) || (id == *dim && chosen == *dim)) {
      report(Code::DimensionTwice, over->loc,
             "the tensor has `" + model.dims[chosen].name + "` already; it has " +
                 print(type.dims));
      return {};
    }
  Op op(OpKind::TopK, {x.tensor});
  op.dims = {*dim, chosen};
  DType dtype = isFloat(type.dtype) ? elaboration.recorder.computeType : type.dtype;
  return elaboration.recorder.emitAll(std::move(op), {{dtype, dims}, {DType::I64, dims}}, expr.loc);
}

} // namespace titan::sema
