// `titanc fmt FILE... [--check]`.
#include "compiler/syntax/Format.h"
#include "compiler/driver/Commands.h"

#include <fstream>
#include <iostream>
#include <iterator>

namespace titan::driver {

/// Writes beside the file and renames, so that an interrupted run leaves the old text or the new.
static bool replaceFile(const std::string &path, const std::string &text) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    if (!out.flush()) {
      std::remove(temporary.c_str());
      return false;
    }
  }
  return std::rename(temporary.c_str(), path.c_str()) == 0;
}

/// Formats one file; false where it could not, or where --check finds it otherwise.
static bool formatFile(const std::string &path, const FormatOptions &options) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::string reason;
  std::optional<FileId> file;
  if (path == "-")
    file = sources.addBuffer("<stdin>", {std::istreambuf_iterator<char>(std::cin), {}});
  else
    file = sources.loadFile(path, reason);
  if (!file) {
    std::cerr << "titanc: cannot read " << path << ": " << reason << '\n';
    return false;
  }
  std::optional<std::string> formatted = syntax::format(sources, *file, diags);
  diags.print(std::cerr);
  if (!formatted)
    return false;
  if (path == "-") {
    std::cout << *formatted;
    return true;
  }
  if (*formatted == sources.text(*file))
    return true;
  if (options.check) {
    std::cerr << path << " is not formatted; titanc fmt " << path << " formats it\n";
    return false;
  }
  if (!replaceFile(path, *formatted)) {
    std::cerr << "titanc: cannot write " << path << '\n';
    return false;
  }
  std::cerr << "formatted " << path << '\n';
  return true;
}

int formatCommand(const FormatOptions &options) {
  bool good = true;
  for (const std::string &path : options.files)
    good &= formatFile(path, options);
  return good ? 0 : 1;
}

} // namespace titan::driver
