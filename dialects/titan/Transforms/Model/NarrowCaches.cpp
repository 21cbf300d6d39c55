// Attention to narrower keys and values.

#include "dialects/titan/Transforms/Model/NarrowCaches.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// A term of the scores: the sum over the dimension `head` of query times key.
struct ScoreTerm {
  Value query, key;
  DimAttr head;
};

/// A tensor as the product of rows and weights, summed over the dimension `rank`.
struct RowProduct {
  Value rows, weights;
  DimAttr rank;
};

Value skipConstraints(Value value) {
  while (auto constraint = value.getDefiningOp<ShardingConstraintOp>())
    value = constraint.getInput();
  return value;
}

/// `type` with the dimension `to` in place of `from`.
NamedTensorType replaceDim(NamedTensorType type, StringAttr from, DimAttr to) {
  SmallVector<DimAttr> dims(type.getDims());
  dims[type.findDimIndex(from)] = to;
  return NamedTensorType::get(type.getElementType(), dims);
}

NamedTensorType replaceDim(Value value, StringAttr from, DimAttr to) {
  return replaceDim(getTensorType(value), from, to);
}

/// `type` with the dimensions of `others` that it lacks at its end, except `omitted`.
NamedTensorType addDims(NamedTensorType type, ArrayRef<DimAttr> others, StringAttr omitted) {
  SmallVector<DimAttr> dims(type.getDims());
  for (DimAttr dim : others)
    if (!type.hasDim(dim.getName()) && dim.getName() != omitted)
      dims.push_back(dim);
  return NamedTensorType::get(type.getElementType(), dims);
}

/// The values of an attention to narrower rows.
struct NarrowValues {
  Value rows;
  DimAttr head;
  std::optional<RowProduct> product; ///< of which the values are the rows
};

/// Narrows the keys and values of one attention. `chunks` says which values have one row per
/// position.
class CacheNarrowing {
public:
  CacheNarrowing(AttentionOp op, const PositionChunks &chunks)
      : op(op), chunks(chunks), opBuilder(op), builder(opBuilder, op.getLoc()) {}

  void run() {
    DimAttr head = getTensorType(op.getKey())
                       .getDims()[getTensorType(op.getKey()).findDimIndex(op.getHeadAttr())];
    SmallVector<ScoreTerm> terms;
    split({op.getQuery(), op.getKey(), head}, terms);
    const ScoreTerm scores = join(terms);
    DimAttr valueHead = op.getValueHead();
    NarrowValues values{op.getValue(), valueHead, findProduct(op.getValue(), valueHead)};
    if (values.product) {
      values.rows = values.product->rows;
      values.head = values.product->rank;
    }
    if (values.head == scores.head || !getTensorType(scores.query).hasDim(values.head.getName()))
      replace(scores, values, findInKeys(values, terms));
  }

private:
  bool hasRows(Value value) const { return chunks.getDependence(value).kind == Dependence::Sliced; }

  /// Rows and weights of which `value` is the product, if the rows are narrower. The weights alone
  /// have the dimension `head`.
  std::optional<RowProduct> findProduct(Value value, DimAttr head) const {
    auto contract = skipConstraints(value).getDefiningOp<ContractOp>();
    if (!contract || contract.getInto() || !hasRows(contract.getResult()))
      return std::nullopt;
    RowProduct product{contract.getLhs(), contract.getRhs(), {}};
    if (hasRows(product.weights))
      std::swap(product.rows, product.weights);
    const NamedTensorType type = getTensorType(contract.getResult()),
                          rows = getTensorType(product.rows);
    for (DimAttr dim : rows.getDims())
      if (!type.hasDim(dim.getName())) {
        if (product.rank)
          return std::nullopt;
        product.rank = dim;
      }
    const bool isProduct = !hasRows(product.weights) && hasRows(product.rows) && product.rank &&
                           !rows.hasDim(head.getName()) &&
                           rows.getElementType() == type.getElementType();
    if (!isProduct || rows.getNumElements() >= type.getNumElements())
      return std::nullopt;
    return product;
  }

  /// Splits a term into terms with narrower keys, as far as possible, by the operation that
  /// computes the key. A sum of keys gives a sum of scores. A padded key multiplies a range of the
  /// query. An expansion repeats keys, as attention does. The weights of a product can multiply the
  /// query.
  void split(const ScoreTerm &term, SmallVectorImpl<ScoreTerm> &terms) {
    Value key = skipConstraints(term.key);
    StringAttr head = term.head.getName();
    auto isTerm = [&](Value value) { return hasRows(value) && getTensorType(value).hasDim(head); };
    if (auto add = key.getDefiningOp<AddOp>();
        add && isTerm(add.getLhs()) && isTerm(add.getRhs())) {
      split({term.query, add.getLhs(), term.head}, terms);
      return split({term.query, add.getRhs(), term.head}, terms);
    }
    if (auto pad = key.getDefiningOp<PadOp>(); pad && pad.getDimAttr() == head) {
      DimAttr range =
          getTensorType(pad.getInput()).getDims()[getTensorType(key).findDimIndex(head)];
      return split({getRange(term, pad.getOffset(), range), pad.getInput(), range}, terms);
    }
    if (auto expand = key.getDefiningOp<ExpandOp>(); expand && isTerm(expand.getInput()))
      return split({term.query, expand.getInput(), term.head}, terms);
    std::optional<RowProduct> product = findProduct(key, term.head);
    if (!product || getTensorType(term.query).hasDim(product->rank.getName())) {
      terms.push_back(term);
      return;
    }
    Value query = builder.create<ContractOp>(replaceDim(term.query, head, product->rank),
                                             term.query, product->weights);
    split({query, product->rows, product->rank}, terms);
  }

  /// The range of the query that a padded key multiplies. If the query is a concatenation (a sum of
  /// pads), the range may be one of its operands.
  Value getRange(const ScoreTerm &term, int64_t offset, DimAttr range) {
    if (auto add = skipConstraints(term.query).getDefiningOp<AddOp>()) {
      Value found;
      for (Value each : add.getOperands()) {
        auto pad = each.getDefiningOp<PadOp>();
        if (!pad || pad.getDimAttr() != term.head.getName())
          return slice(term, offset, range);
        const NamedTensorType type = getTensorType(pad.getInput());
        DimAttr dim = type.getDims()[getTensorType(each).findDimIndex(term.head.getName())];
        const int64_t begin = pad.getOffset(), end = begin + dim.getSize();
        if (begin == offset && dim == range && !found)
          found = pad.getInput();
        else if (begin < offset + range.getSize() && offset < end)
          return slice(term, offset, range);
      }
      if (found)
        return found;
    }
    return slice(term, offset, range);
  }

  Value slice(const ScoreTerm &term, int64_t offset, DimAttr range) {
    return builder.create<SliceOp>(replaceDim(term.query, term.head.getName(), range), term.query,
                                   term.head.getName(), offset);
  }

  /// The terms as one, whose queries and keys are concatenations along a new head dimension.
  ScoreTerm join(ArrayRef<ScoreTerm> terms) {
    if (terms.size() == 1)
      return terms[0];
    int64_t size = 0;
    for (const ScoreTerm &term : terms)
      size += term.head.getSize();
    auto name = StringAttr::get(op.getContext(), op.getHead() + ".narrow");
    ScoreTerm joined{{}, {}, DimAttr::get(op.getContext(), name, size)};
    int64_t offset = 0;
    for (const ScoreTerm &term : terms) {
      builder.setLoc(op.getQuery().getLoc());
      append(joined.query, term.query, term.head, joined.head, offset);
      builder.setLoc(op.getKey().getLoc()); // its name is that of the cache
      append(joined.key, expandAsOthers(term, terms), term.head, joined.head, offset);
      offset += term.head.getSize();
    }
    builder.setLoc(op.getLoc());
    return joined;
  }

  /// Where the joined keys contain the rows of the values.
  static std::optional<int64_t> findInKeys(const NarrowValues &values, ArrayRef<ScoreTerm> terms) {
    int64_t offset = 0;
    for (const ScoreTerm &term : terms) {
      if (terms.size() > 1 && term.key == values.rows && term.head == values.head)
        return offset;
      offset += term.head.getSize();
    }
    return std::nullopt;
  }

  /// The key with all dimensions of the other keys.
  Value expandAsOthers(const ScoreTerm &term, ArrayRef<ScoreTerm> terms) {
    NamedTensorType type = getTensorType(term.key);
    for (const ScoreTerm &other : terms)
      type = addDims(type, getTensorType(other.key).getDims(), other.head.getName());
    return builder.fitTo(term.key, type);
  }

  /// Adds `term` to the concatenation `joined`, at `offset` of the dimension `whole`.
  void append(Value &joined, Value term, DimAttr head, DimAttr whole, int64_t offset) {
    Value padded = builder.create<PadOp>(replaceDim(term, head.getName(), whole), term,
                                         whole.getName(), offset);
    joined = joined ? builder.add(joined, padded) : padded;
  }

  /// Builds attention to the narrower rows, unless it costs more. The cost is the number of
  /// elements that it reads times the number that it multiplies, so that a factor of either counts
  /// equally. If the keys contain the values, from `inKeys` on, the keys are also the values, so
  /// that one cache has both; the range of the result is used.
  void replace(const ScoreTerm &scores, const NarrowValues &values, std::optional<int64_t> inKeys) {
    NamedTensorType keyType = addDims(getTensorType(scores.key),
                                      getTensorType(values.rows).getDims(), values.head.getName());
    DimAttr head = values.head;
    if (inKeys)
      head = DimAttr::get(op.getContext(),
                          StringAttr::get(op.getContext(), op.getHead() + ".narrow_value"),
                          scores.head.getSize());
    NamedTensorType valueType =
        inKeys ? replaceDim(keyType, scores.head.getName(), head)
               : addDims(getTensorType(values.rows), getTensorType(scores.key).getDims(),
                         scores.head.getName());
    NamedTensorType type = replaceDim(scores.query, scores.head.getName(), head);
    const double read = keyType.getNumElements() + (inKeys ? 0 : valueType.getNumElements()),
                 wideRead = countElements(op.getKey()) + countElements(op.getValue()),
                 multiplied = countElements(scores.query) + type.getNumElements(),
                 wideMultiplied = countElements(op.getQuery()) + countElements(op.getResult());
    if (read >= wideRead || read * multiplied > wideRead * wideMultiplied)
      return;
    auto attention = cast<AttentionOp>(opBuilder.clone(*op));
    Value key = builder.fitTo(scores.key, keyType);
    attention.getQueryMutable().assign(scores.query);
    attention.getKeyMutable().assign(key);
    attention.getValueMutable().assign(inKeys ? builder.create<RenameOp>(valueType, key)
                                              : builder.fitTo(values.rows, valueType));
    attention.setHeadAttr(scores.head.getName());
    attention.getResult().setType(type);
    attention->moveBefore(op);
    Value result = attention.getResult();
    if (inKeys)
      result = builder.create<SliceOp>(replaceDim(type, head.getName(), values.head), result,
                                       head.getName(), *inKeys);
    if (values.product)
      result =
          builder.create<ContractOp>(op.getResult().getType(), result, values.product->weights);
    op.getResult().replaceAllUsesWith(builder.fitTo(result, getTensorType(op.getResult())));
    op.getLse().replaceAllUsesWith(builder.fitTo(attention.getLse(), getTensorType(op.getLse())));
  }

  static double countElements(Value value) {
    return static_cast<double>(getTensorType(value).getNumElements());
  }

  AttentionOp op;
  const PositionChunks &chunks;
  OpBuilder opBuilder;
  TensorBuilder builder;
};

/// Erases operations without uses: operations that were built but not needed, and operations that
/// computed the wider rows.
void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseUnused(inner);
    if (isOpTriviallyDead(&op))
      op.erase();
  }
}

} // namespace

void titan::ir::narrowCaches(func::FuncOp function, const PositionChunks &chunks) {
  for (Operation *op : chunks.getCausalOps())
    if (auto attention = dyn_cast<AttentionOp>(op))
      CacheNarrowing(attention, chunks).run();
  eraseUnused(function.getBody().front());
}
