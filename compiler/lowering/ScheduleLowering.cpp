#include "compiler/lowering/ScheduleLowering.h"
#include "compiler/lowering/OpLowering.h"

using namespace mlir;

namespace titan::lowering {

void lowerSchedule(const sema::ScheduleFunction &schedule, const SourceManager &sources,
                   OpBuilder &builder) {
  const sema::Model &model = schedule.model;
  Translation translation(model, sources, builder.getContext());
  const std::string name = "schedule." + model.name;
  auto function = builder.create<ir::ScalarFunctionOp>(translation.loc(model.loc, name), name);
  function->setAttr(ir::attr::kSchedule, builder.getStrArrayAttr(SmallVector<StringRef>(
                                             schedule.sources.begin(), schedule.sources.end())));
  OpBuilder::InsertionGuard guard(builder);
  Block &body = function.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&body);
  const sema::ValueId factor = model.outputs.front().value;
  sema::Reachability needs(model, {factor});
  OpLowering ops(translation, model, needs, builder);
  for (auto [i, input] : llvm::enumerate(model.inputs))
    ops.inputs[i] =
        body.addArgument(translation.type(input.type), translation.loc(input.loc, input.name));
  ops.lower(model.body);
  builder.create<ir::YieldOp>(function.getLoc(), ops[factor]);
}

} // namespace titan::lowering
