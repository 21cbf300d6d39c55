// Numbers as text.
//
// Numbers have 17 digits. Two runs print the same text exactly if they computed the same doubles.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::interpreter {

/// A double with 17 digits; a tensor as nested lists.
std::string format(double value);
std::string format(const ir::HostTensor &tensor);

} // namespace titan::interpreter
