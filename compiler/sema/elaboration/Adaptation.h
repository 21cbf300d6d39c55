// Adapters: functions and blocks that return what uses of a parameter see instead of it, such as
// W + alpha / rank * down @ up (Hu et al. 2021, arXiv 2106.09685). The run selects the parameters
// (Specialisation::adapters), so no model knows about them.
//
// An adapter takes the parameter and, by name, `over inputs`, `over outputs` (the dimensions of a
// matrix, each with those of a batch of matrices) and `over all`. Parameters of its block have the
// name of the adapted parameter as a prefix: `layers.wq.down`.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Adaptation : ElaboratorComponent {
public:
  explicit Adaptation(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// What uses of the declared parameter see: `weight` itself if the run gives it no adapter.
  Value apply(const syntax::Name &name, const Value &weight);
  /// The adapted value of a parameter of a complete model, in the type of the parameter.
  Value merge(const Adapter &adapter, uint32_t parameter);

private:
  Value call(const Adapter &adapter, const syntax::Name &name, const Value &weight);
  std::vector<DimId> getDims(const Adapter &adapter, const std::string &role,
                             const DimSet &all) const;
};

/// The dimensions that adapters may take: "inputs", "outputs", "all".
const std::vector<std::string> &getAdapterRoles();

} // namespace titan::sema
