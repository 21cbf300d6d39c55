#include "compiler/driver/MachineSelection.h"

#include "base/machine/MachineFile.h"
#include "base/text/NearestName.h"
#include "compiler/driver/Paths.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace titan::driver {

static std::string getLibrary() {
  return join(findStandardLibrary(), "machines");
}

/// The names of the machines of the library, sorted.
static std::vector<std::string> listMachines() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(getLibrary(), error), end; !error && file != end;
       file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".toml")
      names.push_back(llvm::sys::path::stem(file->path()).str());
  llvm::sort(names);
  return names;
}

static void reportUnknown(CompilerInstance &instance, const std::string &name) {
  const std::vector<std::string> names = listMachines();
  Diagnostic &diag =
      instance.diags.report(Code::BadMachine, Location(), "no machine is called `" + name + "`");
  if (const std::string near = nearestName(name, names); !near.empty())
    diag.help("did you mean `" + near + "`?");
  else
    diag.help("name a machine of the library (" + llvm::join(names, ", ") +
              ") or a file that ends in `.toml`");
}

std::optional<Machine> loadMachine(CompilerInstance &instance, const std::string &name) {
  std::string path = name;
  if (!llvm::StringRef(name).ends_with(".toml")) {
    path = join(getLibrary(), name + ".toml");
    if (llvm::StringRef(name).contains('/') || !llvm::sys::fs::exists(path)) {
      reportUnknown(instance, name);
      return std::nullopt;
    }
  }
  std::string error;
  const std::optional<FileId> file = instance.sources.loadFile(path, error);
  if (!file) {
    instance.diags.report(Code::BadMachine, Location(), "cannot read `" + path + "`: " + error);
    return std::nullopt;
  }
  MachineFile read = readMachine(instance.sources.text(*file));
  if (!read.machine)
    instance.diags.report(
        Code::BadMachine,
        instance.sources.locate(*file, read.mistake.location.offset, read.mistake.location.length),
        read.mistake.message);
  return std::move(read.machine);
}

} // namespace titan::driver
