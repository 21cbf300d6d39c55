// The pass --dist-prefetch-gathers.

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPREFETCHGATHERS
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// The same gather in each body of a repeat.
using Gathers = SmallVector<AllGatherOp, 2>;

/// An operand of a gather: a slot of a scanned parameter, possibly cast or copied. Every variant
/// scans the parameter.
struct Source {
  Value stack;
  Operation *convert; ///< a cast or copy; null where there is none

  Type getSlotType() const {
    return ir::RepeatOp::getSlotType(cast<ir::NamedTensorType>(stack.getType()));
  }
};

/// The sources of the operands; empty if an operand has no such source.
SmallVector<Source> getSources(AllGatherOp gather, const ir::RepeatVariant &body) {
  SmallVector<ir::RepeatVariant::ScannedInput> slices = body.getScannedInputs();
  RepeatOp repeat = body.getRepeat();
  SmallVector<Source> sources;
  for (Value input : gather.getInputs()) {
    Operation *convert = input.getDefiningOp();
    if (!isa_and_nonnull<ir::CastOp, ir::CopyOp>(convert))
      convert = nullptr;
    Value whole = convert ? convert->getOperand(0) : input;
    auto *slice = llvm::find_if(slices, [&](const auto &each) { return each.slot == whole; });
    if (slice == slices.end() || !getParameter(slice->input) ||
        repeat.getScannedUsers(slice->number).size() != repeat.getNumVariants())
      return {};
    sources.push_back({slice->input, convert});
  }
  // Either all or none of the gather's operands become iteration arguments.
  bool isCast = sources.front().convert != nullptr;
  return llvm::all_of(sources, [&](Source &each) { return (each.convert != nullptr) == isCast; })
             ? sources
             : SmallVector<Source>();
}

/// Whether both gathers, each in its body, have the same sources and types.
bool areEquivalent(AllGatherOp a, AllGatherOp b) {
  SmallVector<Source> from = getSources(a, *ir::findVariant(a->getBlock()));
  SmallVector<Source> to = getSources(b, *ir::findVariant(b->getBlock()));
  return a.getAxes() == b.getAxes() && a->getOperandTypes() == b->getOperandTypes() &&
         a.getResultTypes() == b.getResultTypes() && from.size() == to.size() &&
         llvm::all_of(llvm::zip(from, to),
                      [](auto pair) { return std::get<0>(pair).stack == std::get<1>(pair).stack; });
}

SmallVector<Gathers> findGathers(RepeatOp repeat) {
  SmallVector<Gathers> found;
  DenseSet<Operation *> taken;
  for (auto gather : repeat.getVariant(0).getBlock().getOps<AllGatherOp>()) {
    if (gather.getChannel() || getSources(gather, repeat.getVariant(0)).empty())
      continue;
    Gathers gathers;
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (auto other : body.getBlock().getOps<AllGatherOp>())
        if (gathers.size() == body.getNumber() && !taken.contains(other) && !other.getChannel() &&
            areEquivalent(gather, other))
          gathers.push_back(other);
    if (gathers.size() != repeat.getNumVariants())
      continue;
    taken.insert(gathers.begin(), gathers.end());
    found.push_back(std::move(gathers));
  }
  return found;
}

/// Starts `gather` on slots of its stacks: at `offset`, or at `index` + `offset`.
AllGatherOp start(OpBuilder &builder, AllGatherOp gather, int64_t channel, Value index,
                  int64_t offset) {
  SmallVector<Value> inputs;
  for (auto [result, source] : llvm::zip_equal(
           gather->getResults(), getSources(gather, *ir::findVariant(gather->getBlock())))) {
    Location loc = getValueLocation(result);
    Value layer = builder.create<LayerOp>(loc, source.getSlotType(), source.stack, index, offset);
    IRMapping mapping;
    if (source.convert)
      mapping.map(source.convert->getOperand(0), layer);
    inputs.push_back(source.convert ? builder.clone(*source.convert, mapping)->getResult(0)
                                    : layer);
  }
  return builder.create<AllGatherOp>(gather.getLoc(), gather.getResultTypes(), inputs,
                                     gather.getAxes(), builder.getI64IntegerAttr(channel));
}

/// The iteration arguments of a started gather: the values in flight, and cast or copied operands,
/// which it reads.
SmallVector<Value> getCarried(AllGatherOp started) {
  SmallVector<Value> carried(started.getResults());
  for (Value input : started.getInputs())
    if (!input.getDefiningOp<LayerOp>())
      carried.push_back(input);
  return carried;
}

/// Replaces `gather` by a wait for `count` iteration arguments from index `at` on, and starts the
/// gather of the iteration that follows `depth` iterations later.
void waitAndStartNext(AllGatherOp gather, int64_t channel, unsigned at, unsigned count,
                      int64_t depth) {
  ir::RepeatVariant body = *ir::findVariant(gather->getBlock());
  OpBuilder builder(gather);
  unsigned values = gather.getNumResults();
  SmallVector<Value> carried(body.getIterArgs().slice(at, count));
  auto wait = builder.create<WaitOp>(gather.getLoc(), gather.getResultTypes(), channel,
                                     ArrayRef(carried).take_front(values),
                                     ArrayRef(carried).drop_front(values));
  AllGatherOp next = start(builder, gather, channel, body.getIndex(),
                           body.getRepeat().getReverse() ? -depth : depth);
  for (Value value : getCarried(next))
    body.getYield()->setOperand(at++, value);
  SmallVector<Source> sources = getSources(gather, body);
  gather.replaceAllUsesWith(wait.getResults());
  gather.erase();
  for (const Source &source : sources)
    if (source.convert && source.convert->use_empty())
      source.convert->erase();
}

/// A gather that is in flight when an iteration begins.
struct Flight {
  size_t gathers;     ///< index in the list of gathers of the repeat
  int64_t remainder;  ///< of the iterations that wait for it, modulo the depth
  unsigned at, count; ///< index of its first iteration argument, and their number
};

/// The remainder modulo `depth` of all iterations that run `variant`.
int64_t getRemainder(const ir::IterationTable &table, size_t variant, int64_t depth) {
  int64_t iteration = 0;
  while (table.getVariant(iteration) != static_cast<int64_t>(variant))
    ++iteration;
  return iteration % depth;
}

/// Up to `depth` gathers of one parameter are in flight. Each has its own channel, values and body
/// that waits for it: the iterations whose numbers have the same remainder.
void prefetch(RepeatOp repeat, int64_t depth, int64_t &channel) {
  const int64_t last = repeat.getDim().getSize() - 1;
  depth = std::min(depth, last);
  if (depth == 0 || findGathers(repeat).empty())
    return;
  if (depth > 1)
    repeat = splitVariants(repeat, depth);
  SmallVector<Gathers> found = findGathers(repeat);
  auto getChannel = [&](size_t gathers, int64_t remainder) {
    return channel + static_cast<int64_t>(gathers) * depth + remainder;
  };
  OpBuilder builder(repeat);
  SmallVector<Value> inits;
  SmallVector<Flight> flights;
  for (int64_t i = 0; i < depth; ++i)
    for (auto [number, gathers] : llvm::enumerate(found)) {
      const int64_t layer = repeat.getReverse() ? last - i : i;
      SmallVector<Value> carried = getCarried(
          start(builder, gathers.front(), getChannel(number, layer % depth), nullptr, layer));
      flights.push_back({number, layer % depth,
                         static_cast<unsigned>(repeat.getNumIterArgs() + inits.size()),
                         static_cast<unsigned>(carried.size())});
      llvm::append_range(inits, carried);
    }
  repeat = addIterArgs(repeat, inits);
  const ir::IterationTable table = repeat.getIterations();
  for (const Flight &flight : flights)
    for (auto [variant, gather] : llvm::enumerate(found[flight.gathers]))
      if (depth == 1 || getRemainder(table, variant, depth) == flight.remainder)
        waitAndStartNext(gather, getChannel(flight.gathers, flight.remainder), flight.at,
                         flight.count, depth);
  channel += static_cast<int64_t>(found.size()) * depth;
}

struct PrefetchGathers : titan::dist::impl::DistPrefetchGathersBase<PrefetchGathers> {
  using DistPrefetchGathersBase::DistPrefetchGathersBase;

  void runOnOperation() override {
    if (overlap == Overlap::Never)
      return;
    int64_t channel = getFreeChannel(getOperation());
    SmallVector<RepeatOp> repeats;
    getOperation().walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
    const int64_t before = channel;
    for (RepeatOp repeat : repeats)
      prefetch(repeat, prefetchDepth, channel);
    TITAN_COUNT(prefetchedGathers, channel - before); // each has its own channel
  }
};

} // namespace
