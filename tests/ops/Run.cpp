// Interprets a case on the ranks of a mesh.

#include "tests/ops/Run.h"
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Layout.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::RankMesh;
using interpreter::RankTensors;
using ir::HostTensor;
using ir::NamedTensorType;

/// The term of one rank in a partial sum over `shards` ranks, at global element `index`; the terms
/// add up to `whole`. Ranks have different terms, so that only linear operations give the right
/// sum. Terms except the first are multiples of 1/8, which every element type represents exactly.
static double getTerm(double whole, int64_t rankIndex, int64_t shards, int64_t index) {
  auto fraction = [&](int64_t p) { return static_cast<double>((5 * p + 3 * index) % 17 - 8) / 8; };
  if (rankIndex != 0)
    return fraction(rankIndex);
  for (int64_t p = 1; p < shards; ++p)
    whole -= fraction(p);
  return whole;
}

/// The shard of an operand on a rank.
static HostTensor shardOperand(NamedTensorType type, const RankMesh &mesh, int64_t rank,
                               const Tensor &operand) {
  HostTensor global{type.getShape(), operand.values};
  HostTensor shard = interpreter::getShard(type, mesh, rank, global);
  ArrayAttr partial = type.getShardingOrReplicated().getPartialAxes();
  int64_t shards = dist::getDegreeProduct(partial, mesh.getDegrees());
  if (shards == 1)
    return shard;
  std::vector<int64_t> indices = interpreter::getGlobalIndices(type, mesh, rank);
  for (auto [value, index] : llvm::zip_equal(shard.data, indices))
    if (index >= 0)
      value = getTerm(operand.values[index], mesh.getGroupIndex(rank, partial), shards, index);
  return shard;
}

FailureOr<std::vector<HostTensor>> ops::run(func::FuncOp function, const RankMesh &mesh,
                                            const Case &c) {
  RankTensors arguments(mesh.getNumRanks());
  for (auto [rank, shards] : llvm::enumerate(arguments))
    for (auto [argument, operand] : llvm::zip_equal(function.getArguments(), c.operands))
      shards.push_back(std::make_shared<HostTensor>(
          shardOperand(cast<NamedTensorType>(argument.getType()), mesh, rank, operand)));
  FailureOr<RankTensors> locals = interpreter::interpret(function, mesh, arguments);
  if (failed(locals))
    return failure();
  std::vector<HostTensor> results;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    SmallVector<const HostTensor *> shards;
    for (const auto &rank : *locals)
      shards.push_back(rank[i].get());
    FailureOr<HostTensor> global =
        interpreter::assemble(cast<NamedTensorType>(type), mesh, shards,
                              [&] { return function.emitError("result ") << i << ": "; });
    if (failed(global))
      return failure();
    results.push_back(std::move(*global));
  }
  return results;
}

LogicalResult ops::compare(func::FuncOp function, const std::vector<HostTensor> &results,
                           const std::vector<HostTensor> &expected) {
  for (auto [i, both] : llvm::enumerate(llvm::zip_equal(results, expected))) {
    double deviation = interpreter::getDeviation(std::get<0>(both), std::get<1>(both));
    if (!(deviation <= 1e-12))
      return function.emitError("result ") << i << " deviates from one rank's by " << deviation;
  }
  return success();
}

bool ops::isFinite(const std::vector<HostTensor> &tensors) {
  return llvm::all_of(tensors, [](const HostTensor &tensor) {
    return llvm::all_of(tensor.data, [](double value) { return std::isfinite(value); });
  });
}
