// The pipelines of an emitted program in the form that base/pipeline plans.
#pragma once

#include "base/pipeline/Pipelines.h"

#include "titan/runtime/program.h"

namespace titan::rt {

using pipeline::Pipelines;

/// The table of the program's pipelines.
pipeline::Table pipelineTable(const Program &program);

} // namespace titan::rt
