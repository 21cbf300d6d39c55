#include "compiler/sema/modules/SetsOnce.h"

namespace titan::sema {

bool setsOnce(std::map<std::string, Location> &seen, const std::string &path, Location at,
              DiagnosticEngine &diags) {
  auto [earlier, fresh] = seen.try_emplace(path, at);
  if (!fresh)
    diags.report(Code::OptionTwice, at, "`" + path + "` is set twice")
        .note(earlier->second, "it was set here");
  return fresh;
}

} // namespace titan::sema
