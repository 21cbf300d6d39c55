#include "compiler/lowering/ScheduleLowering.h"
#include "compiler/lowering/OpLowering.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace titan::lowering {

static void lowerSchedule(const sema::ScheduleFunction &schedule, StringRef name,
                          const SourceManager &sources, OpBuilder &builder) {
  const sema::Model &model = schedule.model;
  Translation translation(model, sources, builder.getContext());
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

void lowerSchedule(const sema::ScheduleFunction &schedule, const SourceManager &sources,
                   OpBuilder &builder) {
  lowerSchedule(schedule, "schedule." + schedule.model.name, sources, builder);
}

SmallVector<Attribute> lowerGroupSchedules(const sema::GroupSchedules &schedules,
                                           const SourceManager &sources, OpBuilder &builder) {
  SmallVector<Attribute> symbols;
  llvm::StringMap<unsigned> counts;
  for (const sema::ScheduleFunction &schedule : schedules.functions) {
    std::string name = "schedule.group." + schedule.model.name;
    if (unsigned earlier = counts[schedule.model.name]++)
      name += "." + std::to_string(earlier);
    lowerSchedule(schedule, name, sources, builder);
    symbols.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  return symbols;
}

} // namespace titan::lowering
