// Stands in for LibTorch's header of this path where tests compile CUDA sources for the host, so
// that the sources need no change.
#pragma once
#include "tensors.h"
