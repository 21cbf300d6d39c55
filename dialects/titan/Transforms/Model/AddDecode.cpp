// The pass --titan-add-decode: adds the programs that compute logits of new positions from caches.

#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Gradient/UnusedIterArgs.h"
#include "dialects/titan/Transforms/Model/ChunkProgram.h"
#include "dialects/titan/Transforms/Model/NarrowCaches.h"
#include "dialects/titan/Transforms/Model/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANADDDECODE
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// `model.titan:12: reduce relates positions to one another`
static std::string describe(const PositionChunks::Obstacle &obstacle) {
  std::string text;
  if (auto at = obstacle.op->getLoc()->findInstanceOf<FileLineColLoc>())
    text = at.getFilename().str() + ":" + std::to_string(at.getLine()) + ": ";
  return text + obstacle.op->getName().stripDialect().str() + " " + obstacle.why;
}

/// Whether an axis of degree `auto` may shard positions. Its degree, which the launch decides, must
/// divide the positions of a chunk.
static bool areShardedAtLaunch(ModuleOp module, StringAttr positions) {
  dist::MeshAxisAttr axis = dist::findAutoAxis(dist::MeshOp::lookup(module));
  return axis && llvm::any_of(module.getOps<dist::AxisRulesOp>(), [&](dist::AxisRulesOp rules) {
           return rules.getAxisAttr() == axis.getName() &&
                  (llvm::is_contained(rules.getShards(), positions) ||
                   llvm::is_contained(rules.getFallback(), positions));
         });
}

/// The largest divisor of `whole` up to `most`.
static int64_t getChunkSize(int64_t whole, int64_t most) {
  int64_t size = std::min(whole, most);
  while (whole % size)
    --size;
  return size;
}

namespace {
struct AddDecode : titan::ir::impl::TitanAddDecodeBase<AddDecode> {
  using TitanAddDecodeBase::TitanAddDecodeBase;

  void runOnOperation() override {
    auto logits = getOperation().lookupSymbol<func::FuncOp>("logits");
    const int64_t positions =
        logits ? countPositions(logits) : 0;                     // 0: the module names no dimension
    if (positions <= 1 || getOperation().lookupSymbol("decode")) // the pass has run already
      return;
    // Operations that only the losses need may sum over positions.
    dropUnusedIterArgs(logits.getBody());
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    func::FuncOp source = logits.clone();
    builder.insert(source);
    PositionChunks::Obstacle obstacle;
    const StringAttr dim = DataDimsAttr::lookup(source).getPositions();
    FailureOr<PositionChunks> chunks = PositionChunks::find(source, dim, obstacle);
    if (succeeded(chunks)) {
      narrowCaches(source, *chunks);
      chunks = PositionChunks::find(source, dim, obstacle);
    }
    if (succeeded(chunks))
      addPrograms(source, *chunks, builder);
    else
      logits->setAttr(attr::kUncached, StringAttr::get(&getContext(), describe(obstacle)));
    source.erase();
  }

  void addPrograms(func::FuncOp source, const PositionChunks &chunks, OpBuilder &builder) {
    const int64_t positions = countPositions(source);
    const StringAttr dim = DataDimsAttr::lookup(source).getPositions();
    const int64_t most = areShardedAtLaunch(getOperation(), dim) ? positions : prefill;
    if (const int64_t size = getChunkSize(positions, most); size > 1)
      builder.insert(buildChunkProgram(source, chunks, nullptr, {"prefill", size}));
    func::FuncOp decode = buildChunkProgram(source, chunks, nullptr, {"decode", 1});
    builder.insert(decode);
    if (slots > 1)
      addBatch(source, chunks, decode, builder);
  }

  /// The programs for several texts, if these do not depend on one another.
  void addBatch(func::FuncOp logits, const PositionChunks &chunks, func::FuncOp decode,
                OpBuilder &builder) {
    PositionChunks::Obstacle obstacle;
    FailureOr<PositionChunks> samples =
        PositionChunks::find(logits, DataDimsAttr::lookup(logits).getSamples(), obstacle);
    if (failed(samples))
      return;
    func::FuncOp batch = buildChunkProgram(logits, chunks, &*samples, {kBatchProgram, 1, slots});
    if (!batch)
      return;
    builder.insert(batch);
    builder.insert(buildAdmitProgram(decode, batch));
  }
};
} // namespace
