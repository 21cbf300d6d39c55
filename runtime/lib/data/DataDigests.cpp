#include "DataDigests.h"

#include "base/data/DataPaths.h"
#include "base/data/TokenIndex.h"
#include "files/FileDigest.h"
#include "settings/SettingText.h"

#include <fmt/format.h>

namespace titan::rt {

namespace {

using Inputs = std::vector<Identity::Input>;

void addFile(Inputs &inputs, const std::string &name, const std::string &path) {
  inputs.push_back(Identity::makeInput(name, path, computeDigest(path)));
}

/// The files of indexed tokens; the weights of tokens may be absent.
void addIndexed(Inputs &inputs, const std::string &name, const std::string &file) {
  for (const char *ending : {".idx", ".bin", ".weights.bin"})
    addFile(inputs, fmt::format("{} (*{})", name, ending), tokenFilePrefix(file) + ending);
}

} // namespace

std::vector<Identity::Input> digestData(const Settings &settings) {
  Inputs inputs;
  for (const auto &[path, file] : settings.all()) {
    if (!namesFile(path) || file.empty())
      continue;
    const std::string format = path.substr(0, path.rfind('.')) + ".format";
    const bool isIndexed = settings.resolveAuto(format, "data.format", "text") == "indexed";
    const std::vector<DataPath> sets = parseDataPaths(file).paths;
    for (size_t i = 0; i < sets.size(); ++i) {
      std::string name = path;
      if (sets.size() > 1) {
        name += fmt::format(" {}", i + 1);
        inputs.push_back({name + ", weight", "", fmt::format("{}", sets[i].weight)});
      }
      if (isIndexed)
        addIndexed(inputs, name, sets[i].path);
      else
        addFile(inputs, name, sets[i].path);
    }
  }
  return inputs;
}

} // namespace titan::rt
