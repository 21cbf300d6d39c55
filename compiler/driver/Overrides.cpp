#include "compiler/driver/Overrides.h"

namespace titan::driver {

void setOverride(CommonOptions &options, const std::string &path, const std::string &value) {
  std::erase_if(options.overrides, [&](const std::string &text) {
    std::string name = text.substr(0, text.find('='));
    return name.substr(0, name.find_last_not_of(' ') + 1) == path;
  });
  options.overrides.push_back(path + "=" + value);
}

} // namespace titan::driver
