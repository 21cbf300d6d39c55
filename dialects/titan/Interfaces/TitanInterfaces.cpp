// Generated definitions of the interfaces.

#include "dialects/titan/Interfaces/TitanInterfaces.h"

#include "dialects/titan/Interfaces/TitanInterfaces.cpp.inc"
