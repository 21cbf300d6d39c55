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

/// Formats one file.
static void formatFile(Session &session, const std::string &path, const FormatOptions &options) {
  std::string reason;
  std::optional<FileId> file;
  if (path == "-")
    file = session.sources.addBuffer("<stdin>", {std::istreambuf_iterator<char>(std::cin), {}});
  else
    file = session.sources.loadFile(path, reason);
  if (!file) {
    session.diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return;
  }
  std::optional<std::string> formatted = syntax::format(session.sources, *file, session.diags);
  if (!formatted)
    return;
  if (path == "-") {
    std::cout << *formatted;
    return;
  }
  if (*formatted == session.sources.text(*file))
    return;
  if (options.check) {
    session.diags.report(Code::NotFormatted, {}, "`" + path + "` is not formatted")
        .help("titanc fmt " + path);
    return;
  }
  if (!replaceFile(path, *formatted))
    session.diags.report(Code::CannotWriteFile, {}, "cannot write `" + path + "`");
  else if (!session.options.jsonDiagnostics)
    std::cerr << "formatted " << path << '\n';
}

int formatCommand(const CommonOptions &common, const FormatOptions &options) {
  Session session(common);
  for (const std::string &path : options.files)
    formatFile(session, path, options);
  return session.finish();
}

} // namespace titan::driver
