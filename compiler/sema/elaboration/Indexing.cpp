// `table[vocab: tokens]`, `x[seq: 0..n as prefix]`, `k[seq as keys]`.
#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

using namespace syntax;

Value Indexing::evalIndex(const IndexExpr &expr) {
  Value value = eval(*expr.base);
  if (!expectTensor(value, expr.base->loc, "what is indexed"))
    return {};
  for (const IndexItem &item : expr.items) {
    if (std::optional<std::vector<DimId>> group = findGroup(item)) {
      value = renamed(value, item, *group);
      if (value.isError())
        return {};
      continue;
    }
    std::optional<DimId> dim = resolveDim(item.dim);
    if (!dim)
      return {};
    if (!getTensorType(value).dims.contains(*dim)) {
      report(Code::DimensionNotThere, item.dim.loc,
             "the tensor has no dimension `" + item.dim.text() + "`; it has " +
                 print(getTensorType(value).dims))
          .note(expr.base->loc, "this is indexed");
      return {};
    }
    value = item.kind == IndexKind::Take    ? take(value, item, *dim)
            : item.kind == IndexKind::Slice ? slice(value, item, *dim)
                                            : renamed(value, item, {*dim});
    if (value.isError())
      return {};
  }
  return value;
}

/// One element: a slice of size one, reduced.
Value Indexing::takeOne(const Value &base, int64_t index, const IndexItem &item, DimId dim) {
  const std::string name = model.dims[dim].name;
  int64_t size = model.dims[dim].size;
  if (index < 0 || index >= size) {
    Diagnostic &diag = report(Code::IndexOutOfRange, item.index->loc,
                              "index " + std::to_string(index) + " is outside of `" + name +
                                  "`, which has " + std::to_string(size) + " elements");
    if (index < 0 && -index <= size)
      diag.help("indices start at 0; an index from the end is `" + name + " - " +
                std::to_string(-index) + "`");
    return {};
  }
  TensorType type = getTensorType(base);
  DimId one = elaboration.dims.derivedDim(dim, name + "_at", 1, item.loc);
  DimSet dims;
  for (DimId id : type.dims)
    dims.insert(id == dim ? one : id);
  Op op(OpKind::Slice, {base.tensor});
  op.dims = {dim, one};
  op.index = index;
  Value sliced = emit(std::move(op), {type.dtype, dims}, item.loc);
  return elaboration.tensors.reduce("sum", sliced, {one}, item.loc);
}

Value Indexing::take(const Value &base, const IndexItem &item, DimId dim) {
  Value index = eval(*item.index);
  if (index.isInt())
    return takeOne(base, index.integer, item, dim);
  if (!expectTensor(index, item.index->loc, "an index"))
    return {};
  TensorType type = getTensorType(base), indexType = getTensorType(index);
  if (indexType.dtype != DType::I64) {
    report(Code::DTypeMismatch, item.index->loc,
           std::string("an index must be an int tensor, not ") + spelling(indexType.dtype))
        .help("convert it: `int(x)`, which rounds toward 0");
    return {};
  }
  if (indexType.dims.contains(dim)) {
    report(Code::DimensionTwice, item.index->loc,
           "the index has the dimension `" + model.dims[dim].name + "` that it indexes")
        .help("rename it in the index or in the tensor: `x[" + model.dims[dim].name +
              " as other]`");
    return {};
  }
  if (!elaboration.recorder.indexFits(index, dim, item.index->loc))
    return {};
  Op op(OpKind::Gather, {base.tensor, index.tensor});
  op.dims = {dim};
  return emit(std::move(op), {type.dtype, gather(type.dims, dim, indexType.dims)}, item.loc);
}

Value Indexing::slice(const Value &base, const IndexItem &item, DimId dim) {
  int64_t size = model.dims[dim].size, bounds[2] = {0, size};
  const Expr *ends[2] = {item.lower.get(), item.upper.get()};
  for (int i = 0; i < 2; ++i) {
    if (!ends[i])
      continue;
    Value end = eval(*ends[i]);
    if (!end.isInt()) {
      if (!end.isError())
        report(Code::IndexOutOfRange, ends[i]->loc,
               std::string("the bounds of a range must be integers, not ") + end.describe());
      return {};
    }
    bounds[i] = end.integer;
  }
  if (bounds[0] < 0 || bounds[1] > size || bounds[0] >= bounds[1]) {
    report(Code::IndexOutOfRange, item.loc,
           "the range " + std::to_string(bounds[0]) + ".." + std::to_string(bounds[1]) +
               " is empty or outside of `" + model.dims[dim].name + "`, which has " +
               std::to_string(size) + " elements");
    if (item.rename) // uses of the name cause no further message
      context.frame->scope->define(item.rename->text,
                                   {{}, {}, true, item.rename->loc, "dimension"});
    return {};
  }
  int64_t length = bounds[1] - bounds[0];
  if (length == size && !item.rename)
    return base;
  if (!item.rename) {
    report(Code::SliceNeedsName, item.loc,
           "a slice of `" + model.dims[dim].name + "` is a new dimension and needs a name")
        .help("add one: `as prefix`");
    return {};
  }
  DimId sliced = elaboration.dims.findOrCreate(*item.rename, dim, length);
  if (sliced == noDim)
    return {};
  if (length == size)
    return rename(base, dim, sliced, item);
  TensorType type = getTensorType(base);
  if (type.dims.contains(sliced)) {
    report(Code::DimensionTwice, item.loc,
           "the tensor has `" + model.dims[sliced].name + "` already; it has " + print(type.dims));
    return {};
  }
  DimSet dims;
  for (DimId id : type.dims)
    dims.insert(id == dim ? sliced : id);
  Op op(OpKind::Slice, {base.tensor});
  op.dims = {dim, sliced};
  op.index = bounds[0];
  return emit(std::move(op), {type.dtype, dims}, item.loc);
}

/// The dimensions of `d`, if the item renames a name that denotes several (an argument `over d`).
std::optional<std::vector<DimId>> Indexing::findGroup(const IndexItem &item) {
  Binding *binding = item.dim.isSimple() ? lookup(item.dim.last()) : nullptr;
  bool isGroup = binding && binding->mayBeDim && binding->dims.size() > 1;
  bool isRename = item.kind != IndexKind::Take && item.kind != IndexKind::Slice;
  return isGroup && isRename ? std::optional(binding->dims) : std::nullopt;
}

/// `x[seq as keys]`; `x[outputs as others]` may rename several dimensions, and the new name denotes
/// as many.
Value Indexing::renamed(Value value, const IndexItem &item, const std::vector<DimId> &from) {
  for (DimId dim : from)
    if (!getTensorType(value).dims.contains(dim)) {
      report(Code::DimensionNotThere, item.dim.loc,
             "the tensor has not all dimensions of `" + item.dim.text() + "`; it has " +
                 print(getTensorType(value).dims));
      return {};
    }
  std::vector<DimId> to = elaboration.dims.renamedDims(*item.rename, item.hides, from, item.loc);
  for (size_t i = 0; i < to.size() && value.isTensor(); ++i)
    value = rename(value, from[i], to[i], item);
  return to.empty() ? Value() : value;
}

Value Indexing::rename(const Value &base, DimId from, DimId to, const IndexItem &item) {
  TensorType type = getTensorType(base);
  if (to != from && type.dims.contains(to)) {
    report(Code::DimensionTwice, item.loc,
           "the tensor has `" + item.rename->text + "` already; it has " + print(type.dims));
    return {};
  }
  DimSet dims;
  for (DimId id : type.dims)
    dims.insert(id == from ? to : id);
  Op op(OpKind::Rename, {base.tensor});
  op.dims = {from, to};
  return emit(std::move(op), {type.dtype, dims}, item.loc);
}

} // namespace titan::sema
