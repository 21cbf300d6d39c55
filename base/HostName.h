// The name of this machine, for messages and records.
#pragma once

#include <string>
#include <unistd.h>

namespace titan {

inline std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

} // namespace titan
