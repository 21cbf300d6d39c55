//===- EmitAttention.cpp - Calls of the runtime's attention ---------------===//

#include "compiler/emission/FunctionEmitter.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// The runtime's view of the dimensions: q[outer, seq, kvHeads, group, head].
struct Shape {
  Extent outer, seq, kvHeads, group, head;
  SmallVector<std::string> query, key; ///< the order that the runtime expects
};

} // namespace

static SmallVector<std::string> getKeys(FunctionEmitter &emitter, Value value) {
  SmallVector<std::string> keys;
  for (const Index &dim : emitter.getSpace(value))
    keys.push_back(dim.key);
  return keys;
}

/// Sorts q's dimensions into the runtime's groups; fails where they do not lie in that order.
static FailureOr<Shape> getShape(FunctionEmitter &emitter, Operation *op, Value query, Value key,
                                 Value value, StringRef along, StringRef head) {
  Shape shape;
  Access keyAccess = makeAccess("", emitter.getSpace(key));
  bool isBefore = true;
  SmallVector<std::string> outer, kv, group;
  for (Index &dim : emitter.getSpace(query)) {
    bool shared = keyAccess.strides.count(dim.key);
    if (dim.key == along) {
      shape.seq = dim.size;
      isBefore = false;
    } else if (dim.key == head) {
      shape.head = dim.size;
    } else if (isBefore && shared) {
      shape.outer = shape.outer * dim.size;
      outer.push_back(dim.key);
    } else {
      Extent &part = shared ? shape.kvHeads : shape.group;
      part = part * dim.size;
      (shared ? kv : group).push_back(dim.key);
    }
  }
  outer.push_back(along.str());
  llvm::append_range(outer, kv);
  shape.key = outer;
  shape.key.push_back(head.str());
  shape.query = outer;
  llvm::append_range(shape.query, group);
  shape.query.push_back(head.str());
  if (getKeys(emitter, query) != shape.query || getKeys(emitter, key) != shape.key ||
      getKeys(emitter, value) != shape.key)
    return op->emitError("attention needs dimensions in the order [batch.., \"")
           << along << "\", those of keys.., those of queries alone.., \"" << head
           << "\"] in memory; declare queries, keys and values so";
  return shape;
}

static void emitCall(FunctionEmitter &emitter, Operation *op, StringRef function,
                     ArrayRef<Value> tensors, const Shape &shape, double scale, bool causal) {
  std::string arguments;
  for (Value tensor : tensors)
    arguments += ", " + emitter.getPointer(tensor);
  Writer &out = emitter.out();
  out.line(function + "(ctx" + arguments + ",");
  llvm::SmallString<32> number;
  llvm::APFloat(scale).toString(number);
  out.line(std::string(function.size() + 1, ' ') + "{.outer = " + shape.outer.str() +
           ", .seq = " + shape.seq.str() + ", .kvHeads = " + shape.kvHeads.str() +
           ", .group = " + shape.group.str() + ", .head = " + shape.head.str() + ",");
  out.line(std::string(function.size() + 1, ' ') + " .scale = " + number +
           ", .causal = " + (causal ? "true" : "false") + "});");
}

LogicalResult emission::emitAttention(FunctionEmitter &emitter, AttentionOp op) {
  auto shape =
      getShape(emitter, op, op.getQuery(), op.getKey(), op.getValue(), op.getAlong(), op.getHead());
  if (failed(shape))
    return failure();
  emitCall(emitter, op, "attention",
           {op.getQuery(), op.getKey(), op.getValue(), op.getResult(), op.getLse()}, *shape,
           op.getScale().convertToDouble(), op.getCausal());
  return success();
}

LogicalResult emission::emitAttentionGrad(FunctionEmitter &emitter, AttentionGradOp op) {
  auto shape =
      getShape(emitter, op, op.getQuery(), op.getKey(), op.getValue(), op.getAlong(), op.getHead());
  if (failed(shape))
    return failure();
  if (getKeys(emitter, op.getCotangent()) != shape->query)
    return op.emitError("the cotangent's dimensions lie in another order than the queries'");
  emitCall(emitter, op, "attentionGrad",
           {op.getCotangent(), op.getQuery(), op.getKey(), op.getValue(), op.getResult(),
            op.getLse(), op.getDQuery(), op.getDKey(), op.getDValue()},
           *shape, op.getScale().convertToDouble(), op.getCausal());
  return success();
}
