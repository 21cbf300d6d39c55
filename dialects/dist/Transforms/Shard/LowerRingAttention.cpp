// The pass --dist-lower-ring-attention.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTLOWERRINGATTENTION
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

namespace {

/// The steps of one attention over the ranks of `axes`: in step s, a rank computes with the keys
/// and values of the rank s positions before.
class Ring {
public:
  Ring(Operation *op, ArrayAttr axes, int64_t ranks)
      : builder(op), loc(op->getLoc()), axes(axes), ranks(ranks) {}

  /// Computes one step from its number (i64), keys and values, and the sums of the steps before;
  /// returns the new sums.
  using Step = function_ref<SmallVector<Value>(Value, ValueRange, ValueRange)>;

  /// The steps from number `from` on, with its keys and the sums before it. The keys of the next
  /// step arrive during a step, so that two shards are alive. The last step needs no next one and
  /// is apart from the loop.
  SmallVector<Value> run(int64_t from, ValueRange keys, ValueRange sums, Step step) {
    if (from == ranks - 1)
      return step(getNumber(from), keys, sums);
    SmallVector<Value> inits(keys);
    llvm::append_range(inits, sums);
    auto repeat = create<ir::RepeatOp>(getStepsDim(from), /*reverse=*/false, inits, ValueRange(),
                                       TypeRange());
    {
      OpBuilder::InsertionGuard guard(builder);
      Block &body = repeat.getVariant(0).getBlock();
      body.getArgument(0).setType(getScalarType(builder.getI64Type()));
      builder.setInsertionPointToEnd(&body);
      ValueRange arguments = body.getArguments().drop_front();
      ValueRange current = arguments.take_front(keys.size());
      SmallVector<Value> next = pass(current);
      Value number = body.getArgument(0);
      if (from)
        number = create<ir::AddOp>(number.getType(), number, getNumber(from));
      llvm::append_range(next, step(number, current, arguments.drop_front(keys.size())));
      create<ir::YieldOp>(next);
    }
    ValueRange last = repeat.getResults();
    return step(getNumber(ranks - 1), last.take_front(keys.size()), last.drop_front(keys.size()));
  }

  /// The number of a step.
  Value getNumber(int64_t step) {
    return create<ir::ConstantOp>(getScalarType(builder.getI64Type()),
                                  builder.getI64IntegerAttr(step));
  }

  /// Passes the shards of this rank to the next one.
  SmallVector<Value> pass(ValueRange shards) {
    return create<PermuteOp>(shards.getTypes(), shards, axes, /*offset=*/1, IntegerAttr())
        .getResults();
  }

  /// A copy of an attention operation that computes one step.
  template <typename Op> Op createStep(Op attention, Value step, ValueRange keys) {
    auto copy = cast<Op>(builder.clone(*attention));
    copy.getKeyMutable().assign(keys[0]);
    copy.getValueMutable().assign(keys[1]);
    copy.getRingStepMutable().assign(step);
    copy.setRingAxesAttr(axes);
    return copy;
  }

  /// `value` in the element type of sums, f32 at least.
  Value widen(Value value) { return castTo(value, getSumType(value).getElementType()); }
  Value castTo(Value value, Type element) {
    NamedTensorType type = getTensorType(value);
    return type.getElementType() == element
               ? value
               : create<ir::CastOp>(type.withElementType(element), value);
  }
  /// The initial value of a sum with the shape of `value`: `number` in all elements. If the sum is
  /// partial over other axes, one rank has `number` and the others have 0.
  Value fill(Value value, double number) {
    NamedTensorType type = getSumType(value);
    if (ShardingAttr sharding = type.getShardingOrReplicated(); sharding.isPartial())
      return create<MakePartialOp>(type,
                                   expand(number, type.withSharding(sharding.withoutPartial())),
                                   sharding.getPartialAxes());
    return expand(number, type);
  }
  Value expand(double number, NamedTensorType type) {
    return create<ir::ExpandOp>(
        type, create<ir::ConstantOp>(getScalarType(type.getElementType()), number));
  }

  template <typename Op, typename... Args> Op create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

private:
  static NamedTensorType getScalarType(Type element) {
    return NamedTensorType::get(element, {})
        .withSharding(ShardingAttr::getReplicated(element.getContext(), 0));
  }

  static NamedTensorType getSumType(Value value) {
    NamedTensorType type = getTensorType(value);
    return type.withElementType(ir::getAccumulationType(type.getElementType()));
  }

  ir::DimAttr getStepsDim(int64_t from) {
    std::string name;
    for (auto axis : axes.getAsRange<StringAttr>())
      name += axis.str() + ".";
    return ir::DimAttr::get(builder.getContext(), builder.getStringAttr(name + "ring"),
                            ranks - 1 - from, StringAttr());
  }

  OpBuilder builder;
  Location loc;
  ArrayAttr axes;
  int64_t ranks;
};

} // namespace

/// Merges the results of attention over two disjoint sets of keys (Liu, Zaharia and Abbeel, 2023,
/// section 3; Dao et al., arXiv 2205.14135, section 3.1): with m the greater of l and k,
///   lse = m + log(e^(l-m) + e^(k-m)),  result = (e^(l-m) x + e^(k-m) y) / (e^(l-m) + e^(k-m)).
/// A step in which a query sees no key has k = -inf, so l is finite from the beginning.
static SmallVector<Value> merge(Ring &ring, ValueRange first, ValueRange second) {
  NamedTensorType rows = getTensorType(first[1]), wide = getTensorType(first[0]);
  Value top = ring.create<ir::MaximumOp>(rows, first[1], second[1]);
  auto getWeight = [&](Value lse) -> Value {
    return ring.create<ir::ExpOp>(rows, ring.create<ir::SubOp>(rows, lse, top));
  };
  Value one = getWeight(first[1]), other = getWeight(second[1]);
  Value sum = ring.create<ir::AddOp>(rows, one, other);
  Value lse = ring.create<ir::AddOp>(rows, top, ring.create<ir::LogOp>(rows, sum));
  Value ofFirst = ring.create<ir::MulOp>(wide, first[0], one);
  Value ofSecond = ring.create<ir::MulOp>(wide, second[0], other);
  Value terms = ring.create<ir::AddOp>(wide, ofFirst, ofSecond);
  return {ring.create<ir::DivOp>(wide, terms, sum), lse};
}

/// The log-sum-exp before the first step: finite, and e^(kNoKeys - k) = 0 for every score k.
static constexpr double kNoKeys = -1e38;

static void lower(ir::AttentionOp attention, Ring &ring) {
  Value initialSums[] = {ring.fill(attention.getResult(), 0),
                         ring.fill(attention.getLse(), kNoKeys)};
  SmallVector<Value> sums =
      ring.run(0, {attention.getKey(), attention.getValue()}, initialSums,
               [&](Value number, ValueRange keys, ValueRange before) {
                 auto step = ring.createStep(attention, number, keys);
                 return merge(ring, before, {ring.widen(step.getResult()), step.getLse()});
               });
  attention->replaceAllUsesWith(
      ValueRange{ring.castTo(sums[0], attention.getResult().getType().getElementType()), sums[1]});
  attention->erase();
}

/// The cotangents of keys and values follow them around the ring. A rank adds its terms when they
/// arrive, and passes them on during the next step. After the last step they are one rank away from
/// their owner. Nothing arrives in the first step, which is apart from the loop.
static void lower(ir::AttentionGradOp grad, Ring &ring) {
  auto compute = [&](Value number, ValueRange keys) {
    SmallVector<Value> terms;
    for (Value term : ring.createStep(grad, number, keys)->getResults())
      terms.push_back(ring.widen(term));
    return terms;
  };
  SmallVector<Value> own{grad.getKey(), grad.getValue()}, next = ring.pass(own),
                                                          first = compute(ring.getNumber(0), own);
  SmallVector<Value> sums =
      ring.run(1, next, first, [&](Value number, ValueRange keys, ValueRange before) {
        SmallVector<Value> arrived{before[0]};
        llvm::append_range(arrived, ring.pass(before.drop_front()));
        for (auto [sum, term] : llvm::zip_equal(arrived, compute(number, keys)))
          sum = ring.create<ir::AddOp>(sum.getType(), sum, term);
        return arrived;
      });
  SmallVector<Value> results{sums[0]};
  llvm::append_range(results, ring.pass(ValueRange(sums).drop_front()));
  for (auto [result, sum] : llvm::zip_equal(grad->getResults(), results))
    result.replaceAllUsesWith(ring.castTo(sum, getTensorType(result).getElementType()));
  grad->erase();
}

template <typename Op> static void lowerEach(func::FuncOp function, const MeshView &mesh) {
  function.walk([&](Op op) {
    NamedTensorType type = op.getKey().getType();
    ArrayAttr axes =
        type.getShardingOrReplicated().getDimAxes()[type.findDimIndex(op.getAlongAttr())];
    if (op.getRingStep() || axes.empty())
      return;
    int64_t ranks = 1;
    for (Attribute axis : axes)
      ranks *= mesh.getAxes()[mesh.getIndex(axis)].degree;
    Ring ring(op, axes, ranks);
    lower(op, ring);
  });
}

namespace {
struct LowerRingAttention : titan::dist::impl::DistLowerRingAttentionBase<LowerRingAttention> {
  void runOnOperation() override {
    auto lowerBoth = [](func::FuncOp function, const MeshView &mesh) {
      lowerEach<ir::AttentionOp>(function, mesh);
      lowerEach<ir::AttentionGradOp>(function, mesh);
      return success();
    };
    if (failed(visitWithMesh(getOperation(), lowerBoth)))
      signalPassFailure();
  }
};
} // namespace
