// Periods and turns in the IR.

#include "dialects/titan/Support/Turns.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

Period ir::getPeriod(func::FuncOp function, unsigned index) {
  auto period = function.getArgAttrOfType<PeriodAttr>(index, attr::kPeriod);
  return period ? Period{period.getEvery(), period.getOffset()} : Period();
}

static std::vector<Period> getPeriods(ArrayAttr attribute) {
  std::vector<Period> periods;
  for (auto period : attribute.getAsRange<PeriodAttr>())
    periods.push_back({period.getEvery(), period.getOffset()});
  return periods;
}

static ArrayAttr getPeriodsAttr(MLIRContext *context, const std::vector<Period> &periods) {
  SmallVector<Attribute> attributes;
  for (const Period &period : periods)
    attributes.push_back(PeriodAttr::get(context, period.every, period.offset));
  return ArrayAttr::get(context, attributes);
}

Turn ir::getTurn(TurnAttr attribute) {
  return {getPeriods(attribute.getDue()), getPeriods(attribute.getIdle())};
}

TurnAttr ir::getTurnAttr(MLIRContext *context, const Turn &turn) {
  return TurnAttr::get(context, getPeriodsAttr(context, turn.due),
                       getPeriodsAttr(context, turn.idle));
}
