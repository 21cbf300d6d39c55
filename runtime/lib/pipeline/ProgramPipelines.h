// The pipelines of a program, as base/pipeline plans them.
#pragma once

#include "base/pipeline/Pipelines.h"

#include "titan/runtime/program.h"

namespace titan::rt {

using pipeline::Pipelines;

/// The table of the program's pipelines.
pipeline::Table pipelineTable(const Program &program);

} // namespace titan::rt
