// Names of tensors in a store, where they differ from those of the weight map.
#pragma once

#include "WeightStore.h"

#include "base/weights/WeightMap.h"

#include <set>
#include <string>
#include <vector>

namespace titan::rt {

/// TensorFlow, and files converted from it, call the weight and the bias of a norm `gamma` and
/// `beta`: a name in the words of the map, unless the map, too, has the older ones.
std::string useWords(const std::string &name, const std::set<std::string> &mapped);

/// The beginning of names in a store in place of `mapped`, the first word of names in the map.
struct Renaming {
  std::string mapped, stored;
};

/// A store may have other first words of names than the map: none, as `transformers` saves a model
/// without its heads (`h.0.ln_1.weight` for `transformer.h.0.ln_1.weight`), or longer ones, as it
/// saves the text model beside a vision tower (`model.language_model.norm.weight` for
/// `model.norm.weight`).
std::vector<Renaming> findRenamings(const WeightStore &store, const std::string &prefix,
                                    const std::set<std::string> &mapped, const WeightMap &map);

/// The name in the map for a name in a store.
std::string rename(const std::string &name, const std::vector<Renaming> &renamings);

} // namespace titan::rt
