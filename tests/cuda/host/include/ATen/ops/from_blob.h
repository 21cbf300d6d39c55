// Replaces the header of LibTorch that has this path; Titan's sources include it unchanged.
#pragma once
#include "tensors.h"
