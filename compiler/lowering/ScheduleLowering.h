// Lowers the schedules of a run to scalar functions with `titan.schedule`.
#pragma once

#include "compiler/sema/runs/Schedules.h"

#include "mlir/IR/Builders.h"

namespace titan::lowering {

/// Adds `@schedule.NAME` to the module of `builder`: arguments and result are numbers in f64.
/// `titan.schedule` lists the source of each argument.
void lowerSchedule(const sema::ScheduleFunction &schedule, const SourceManager &sources,
                   mlir::OpBuilder &builder);
/// Adds the schedules of groups, `@schedule.group.NAME`. Returns their symbols.
llvm::SmallVector<mlir::Attribute> lowerGroupSchedules(const sema::GroupSchedules &schedules,
                                                       const SourceManager &sources,
                                                       mlir::OpBuilder &builder);

} // namespace titan::lowering
