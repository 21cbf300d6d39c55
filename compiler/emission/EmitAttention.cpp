// Calls of the runtime's attention.
//
// The runtime accesses tensors by strides along (outer, position, kv head, group, head). Shared
// dimensions of queries and keys form outer and kv head; other dimensions of queries form the
// group. Contiguous dimensions are merged. If more than two common ones remain, the others become
// loops around the call.

#include "compiler/emission/FunctionEmitter.h"
#include "dialects/titan/Kernels/ScalarText.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

class AttentionCall {
public:
  template <typename Op>
  AttentionCall(FunctionEmitter &emitter, Op op)
      : emitter(emitter), out(emitter.out()), op(op), along(op.getAlong()),
        q(emitter.getAccess(op.getQuery())), k(emitter.getAccess(op.getKey())),
        v(emitter.getAccess(op.getValue())), y(emitter.getAccess(op.getResult())),
        lse(emitter.getAccess(op.getLse())) {
    if (op.getDocuments())
      documents = emitter.getAccess(op.getDocuments());
    for (const IndexDim &dim : emitter.getSpace(op.getKey()))
      if (dim.key == along)
        keys = dim.size;
    head = {op.getHead().str(), SizeExpr()};
    valueHead = {op.getValueHead().getName().str(),
                 SizeFactor(emitter.sizes().getSize(op.getValueHead(),
                                                    ArrayAttr::get(op.getContext(), {})))};
    addMask(op);
    if (op.getRingStep())
      keyShard = emitter.getShardBefore(op.getKey().getType(),
                                        op.getKey().getType().findDimIndex(op.getAlongAttr()),
                                        op.getRingStep());
  }

  /// Divides the dimensions of `query` into those of the call and loops around it; fails if the
  /// dimensions of the group are not contiguous.
  LogicalResult arrange(Value query);
  /// `tensors`: accesses in argument order; null for absent ones.
  void emit(StringRef function, ArrayRef<const Access *> tensors);

  FunctionEmitter &emitter;
  Writer &out;
  Operation *op;
  std::string along;
  Access q, k, v, y, lse;
  std::optional<Access> documents, start;

private:
  template <typename Op> void addMask(Op op) {
    auto add = [&](StringRef text) { mask += (", " + text).str(); };
    if (op.getCausal())
      add(".causal = true");
    if (op.getWindow())
      add(".window = " + std::to_string(*op.getWindow()));
    if (op.getSoftCap())
      add(".softCap = " + getLiteral(op.getSoftCap()->convertToDouble()));
    scale = getLiteral(op.getScale().convertToDouble());
    if constexpr (std::is_same_v<Op, AttentionOp>)
      if (Value first = op.getStart())
        start = emitter.getAccess(first);
  }
  /// The pointer of `access`, advanced by the indices of the loops around the call.
  std::string at(const Access &access) const;
  std::string getStartStrides() const;
  std::string getStrides(StringRef field, const Access &access, const SizeExpr &positions,
                         const SizeExpr &groups, const IndexDim &last) const;

  SizeExpr queries, keys;
  IndexDim head, valueHead;
  std::string queryShard, keyShard, mask, scale;
  SmallVector<Loop> around;
  std::optional<Loop> outer, kvHead, group;
};

} // namespace

LogicalResult AttentionCall::arrange(Value query) {
  auto type = cast<NamedTensorType>(query.getType());
  SmallVector<IndexDim> shared, own;
  bool isBeforePositions = true, isFirstBeforePositions = false;
  for (IndexDim &dim : emitter.getSpace(query)) {
    if (dim.key == along) {
      queries = dim.size;
      queryShard =
          emitter.getShard(type, type.findDimIndex(StringAttr::get(op->getContext(), along)));
      isBeforePositions = false;
    } else if (dim.key == head.key) {
      head.size = dim.size;
    } else {
      bool isShared = k.strides.count(dim.key);
      isFirstBeforePositions |=
          isShared && shared.empty() && isBeforePositions && !dim.size.isOne();
      (isShared ? shared : own).push_back(dim);
    }
  }
  SmallVector<const Access *> all{&q, &k, &v, &y, &lse};
  if (documents)
    all.push_back(&*documents);
  if (start)
    all.push_back(&*start);
  around = makeLoops(shared, all);
  if (around.size() > 1 || (around.size() == 1 && !isFirstBeforePositions))
    kvHead = around.pop_back_val();
  if (!around.empty())
    outer = around.pop_back_val();
  nameLoops(around);
  SmallVector<Loop> groups = makeLoops(own, {&q, &y, &lse});
  if (groups.size() > 1)
    return op->emitError("attention needs the dimensions that queries alone have (")
           << groups[0].getKey() << ", " << groups[1].getKey()
           << ") side by side in memory; declare the queries so";
  if (!groups.empty())
    group = groups[0];
  return success();
}

std::string AttentionCall::at(const Access &access) const {
  std::string offset = getOffset(access, around);
  return access.pointer + (offset == "0" ? "" : " + " + offset);
}

/// The strides of a tensor as a field of the call, or nothing for the default row-major order.
std::string AttentionCall::getStrides(StringRef field, const Access &access,
                                      const SizeExpr &positions, const SizeExpr &groups,
                                      const IndexDim &last) const {
  auto getSize = [](const std::optional<Loop> &loop) { return loop ? loop->size : SizeExpr(); };
  struct CallDim {
    std::string key; ///< empty: the tensor has no such dimension
    SizeExpr rowMajorStride;
  };
  auto getKey = [](const std::optional<Loop> &loop) { return loop ? loop->getKey().str() : ""; };
  SizeExpr ofGroup = last.size, ofKvHead = groups * ofGroup,
           ofPosition = getSize(kvHead) * ofKvHead;
  const bool hasGroup = field != "k" && field != "v";
  const CallDim dims[] = {{getKey(outer), positions * ofPosition},
                          {along, ofPosition},
                          {getKey(kvHead), ofKvHead},
                          {hasGroup ? getKey(group) : "", ofGroup},
                          {last.key, SizeExpr()}};
  bool isRowMajor = true;
  std::string list;
  for (const CallDim &dim : dims) {
    auto stride = access.strides.find(dim.key);
    bool hasStride = !dim.key.empty() && stride != access.strides.end();
    isRowMajor &= hasStride ? stride->second == dim.rowMajorStride : dim.key.empty();
    list += (list.empty() ? "" : ", ") + (hasStride ? stride->second.str() : "0");
  }
  return isRowMajor ? "" : (", ." + field + " = {" + list + "}").str();
}

/// The strides of the start; empty if all rows have the same start.
std::string AttentionCall::getStartStrides() const {
  if (start->strides.empty())
    return "";
  auto along = [&](const std::optional<Loop> &loop) {
    auto stride = loop ? start->strides.find(loop->getKey().str()) : start->strides.end();
    return stride == start->strides.end() ? "0" : stride->second.str();
  };
  return ", .ofStart = {.outer = " + along(outer) + ", .kvHead = " + along(kvHead) + "}";
}

void AttentionCall::emit(StringRef function, ArrayRef<const Access *> tensors) {
  auto getSize = [](const std::optional<Loop> &loop) { return loop ? loop->size.str() : "1"; };
  SizeExpr groups = group ? group->size : SizeExpr(), one;
  std::string rest = mask;
  if (!queryShard.empty())
    rest += ", .queryShard = " + queryShard;
  if (documents)
    rest += ", .documents = " + at(*documents);
  if (!keyShard.empty())
    rest += ", .keyShard = " + keyShard;
  if (start)
    rest += ", .start = " + at(*start);
  if (!emitter.isCuda())
    rest += ", .scratch = " + emitter.getScratch(op, 0, Float64Type::get(op->getContext()));
  rest += getStrides("q", q, queries, groups, head) + getStrides("k", k, keys, one, head) +
          getStrides("v", v, keys, one, valueHead) +
          getStrides("out", y, queries, groups, valueHead) +
          getStrides("lse", lse, queries, groups, {"", one});
  if (documents)
    rest += getStrides("ofDocuments", *documents, keys, one, {"", one});
  if (start)
    rest += getStartStrides();
  openLoops(out, around);
  std::string arguments;
  for (const Access *tensor : tensors)
    arguments += ", " + (tensor ? at(*tensor) : "nullptr");
  std::string indent(function.size() + 1, ' ');
  out.line((function + "(ctx" + arguments + ",").str());
  out.line(indent + "{.outer = " + getSize(outer) + ", .queries = " + queries.str() + ", .keys = " +
           keys.str() + ", .kvHeads = " + getSize(kvHead) + ", .group = " + getSize(group) + ",");
  out.line(indent + " .head = " + head.size.str() + ", .valueHead = " + valueHead.size.str() +
           ", .scale = " + scale + rest + "});");
  closeLoops(out, around);
}

LogicalResult emission::emitAttention(FunctionEmitter &emitter, AttentionOp op) {
  AttentionCall call(emitter, op);
  if (failed(call.arrange(op.getQuery())))
    return failure();
  call.emit("attention", {&call.q, &call.k, &call.v, &call.y, &call.lse});
  return success();
}

LogicalResult emission::emitAttentionGrad(FunctionEmitter &emitter, AttentionGradOp op) {
  AttentionCall call(emitter, op);
  if (failed(call.arrange(op.getQuery())))
    return failure();
  Access dy = emitter.getAccess(op.getCotangent());
  Access dq = emitter.getAccess(op.getDQuery()), dk = emitter.getAccess(op.getDKey()),
         dv = emitter.getAccess(op.getDValue());
  std::optional<Access> lseCotangent;
  if (op.getLseCotangent())
    lseCotangent = emitter.getAccess(op.getLseCotangent());
  call.emit("attentionGrad", {&dy, &call.q, &call.k, &call.v, &call.y, &call.lse,
                              lseCotangent ? &*lseCotangent : nullptr, &dq, &dk, &dv});
  return success();
}
