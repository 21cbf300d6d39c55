#include "ProgramPipelines.h"

namespace titan::rt {

pipeline::Table pipelineTable(const Program &program) {
  pipeline::Table table{program.pipelines, std::vector<bool>(program.persistent.size()), {}};
  for (const Tensor &tensor : program.tensors)
    if (tensor.role == Role::Parameter || tensor.role == Role::State)
      table.isStored[static_cast<size_t>(tensor.allocation)] = true;
  for (const Function &function : program.functions)
    table.functions.push_back(function.name);
  return table;
}

} // namespace titan::rt
