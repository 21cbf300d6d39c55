// Files that contain adapters alone, as PEFT writes them: the adapters' parameters beside the
// tensors of the adapted parameters. The file of an adapter declares both:
//
//   weights "peft" for LowRank {
//     down = "base_model.model.{module}.lora_A.weight"[narrow, inputs]
//     up   = "base_model.model.{module}.lora_B.weight"[outputs, narrow]
//   }
//   config "peft" for LowRank { r = rank }
//
// `{module}` is the name of the adapted parameter's tensor without ".weight"; `inputs` and
// `outputs` are the stored dimensions of this tensor.
#pragma once

#include "base/weights/WeightMap.h"
#include "compiler/sema/elaboration/Elaborator.h"

namespace titan::sema {

/// The name of the format in declarations.
inline constexpr const char *adapterFormat = "peft";

/// Adds the tensors of adapters to the map of the model. An adapter whose parameter is not one
/// whole stored matrix, or matrices numbered by their names, has none.
void addAdapterTensors(const Adapters &adapters, const Model &model, const Library &library,
                       WeightMap &map);

/// The configuration of the model (exportConfig) with a member "adapters": the configurations of
/// adapters with tensors in the map, by the names of the adapted parameters: `{"layers.wq": {"r":
/// 8}}`, and a member "adapter_training": the keys that act in training alone. Unchanged if there
/// are none.
std::string addAdapterConfigs(std::string config, const Adapters &adapters, const WeightMap &map,
                              const Library &library, DiagnosticEngine &diags);

/// Whether the declaration is that of an adapter's files, not of a model's.
bool isOfAdapter(const syntax::Decl &decl, const Unit &unit, const Library &library);

} // namespace titan::sema
