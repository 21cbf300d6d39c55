#pragma once
#include "process_group.h"
