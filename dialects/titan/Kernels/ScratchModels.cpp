//===- ScratchModels.cpp - Models of ScratchOpInterface -------------------===//

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Kernels/Kernels.h"
#include "runtime/include/titan/runtime/attention_scratch.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

template <typename Op>
struct AttentionScratch : ScratchOpInterface::ExternalModel<AttentionScratch<Op>, Op> {
  int64_t getScratchBytes(Operation *op, const dist::Degrees &degrees) const {
    auto attention = cast<Op>(op);
    NamedTensorType q = attention.getQuery().getType(), k = attention.getKey().getType();
    auto sizeIn = [&](NamedTensorType type, StringAttr name) {
      return dist::getLocalShape(type, degrees)[type.indexOf(name)];
    };
    int64_t group = 1;
    for (auto [dim, size] : llvm::zip_equal(q.getDims(), dist::getLocalShape(q, degrees)))
      group *= k.hasDim(dim.getName()) ? 1 : size;
    rt::attention_scratch::Sizes sizes{sizeIn(q, attention.getAlongAttr()),
                                       sizeIn(k, attention.getAlongAttr()),
                                       group,
                                       sizeIn(q, attention.getHeadAttr()),
                                       attention.getValueHead().getSize(),
                                       q.getElementType().isF64() ? 8 : 4};
    return isa<AttentionOp>(op) ? rt::attention_scratch::forwardBytes(sizes)
                                : rt::attention_scratch::backwardBytes(sizes);
  }
};

} // namespace

void ir::registerScratchModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    AttentionOp::attachInterface<AttentionScratch<AttentionOp>>(*context);
    AttentionGradOp::attachInterface<AttentionScratch<AttentionGradOp>>(*context);
  });
}
