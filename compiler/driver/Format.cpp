// `titanc fmt FILE... [--check]`.
#include "compiler/syntax/Format.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <iostream>
#include <iterator>

namespace titan::driver {

namespace fs = llvm::sys::fs;

/// An interruption leaves the old or the new text. Preserves links and permissions.
static std::error_code replaceText(const std::string &path, const std::string &text) {
  llvm::SmallString<128> real;
  if (std::error_code error = fs::real_path(path, real))
    return error;
  auto mode = fs::getPermissions(real);
  if (!mode)
    return mode.getError();
  if (!fs::can_write(real)) // a rename ignores the permissions of the file
    return std::make_error_code(std::errc::permission_denied);
  return replaceFile(real.str().str(), text, static_cast<mode_t>(*mode));
}

/// Formats one file.
static void formatFile(CompilerInstance &instance, const std::string &path,
                       const FormatOptions &options) {
  std::string reason;
  std::optional<FileId> file;
  if (path == "-")
    file = instance.sources.addBuffer("<stdin>", {std::istreambuf_iterator<char>(std::cin), {}});
  else
    file = instance.sources.loadFile(path, reason);
  if (!file) {
    instance.diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return;
  }
  std::optional<std::string> formatted = syntax::format(instance.sources, *file, instance.diags);
  if (!formatted)
    return;
  if (path == "-") {
    std::cout << *formatted;
    return;
  }
  if (*formatted == instance.sources.text(*file))
    return;
  if (options.check) {
    instance.diags.report(Code::NotFormatted, {}, "`" + path + "` is not formatted")
        .help("titanc fmt " + path);
    return;
  }
  if (std::error_code error = replaceText(path, *formatted))
    instance.diags.report(Code::CannotWriteFile, {},
                          "cannot write `" + path + "`: " + error.message());
  else if (!instance.options.jsonDiagnostics)
    std::cerr << "formatted " << path << '\n';
}

int formatCommand(const CommonOptions &common, const FormatOptions &options) {
  CompilerInstance instance(common);
  for (const std::string &path : options.files)
    formatFile(instance, path, options);
  return instance.finish();
}

} // namespace titan::driver
