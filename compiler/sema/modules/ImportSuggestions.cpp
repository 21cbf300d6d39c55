// Searches files that were not imported, for suggestions in diagnostics.
#include "compiler/sema/modules/Library.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace titan::sema {

using namespace syntax;

namespace {

constexpr size_t maxFiles = 1000; // the folder may be huge, and suggestions are optional

/// The importable files of a directory, sorted by name.
std::vector<fs::path> filesIn(const fs::path &folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entries(folder.empty() ? "." : folder, error);
  for (; !error && entries != fs::directory_iterator() && files.size() < maxFiles;
       entries.increment(error))
    if (entries->path().extension() == ".titan")
      files.push_back(entries->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Whether the file declares a function, a block or a model of this name.
bool declares(const fs::path &path, const std::string &name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    for (std::string word : {"fn ", "block ", "model "})
      if (line.rfind(word + name, 0) == 0) {
        char following =
            line.size() > word.size() + name.size() ? line[word.size() + name.size()] : 0;
        if (following == '(' || following == ' ')
          return true;
      }
  return false;
}

} // namespace

/// The importable files in the directory of a failed import, in import syntax.
std::vector<std::string> Library::importable(const Unit &unit, const ImportDecl::Item &item) const {
  fs::path folder;
  for (size_t i = 0; !item.file && i + 1 < item.path.segments.size(); ++i)
    folder /= item.path.segments[i].text;
  std::string before;
  for (const fs::path &component : folder)
    before += component.string() + ".";
  std::vector<fs::path> directories = {fs::path(unit.path).parent_path()};
  directories.insert(directories.end(), searchDirs.begin(), searchDirs.end());
  std::vector<std::string> names;
  for (const fs::path &directory : directories)
    for (const fs::path &file : filesIn(directory / folder))
      names.push_back(item.file ? '"' + file.filename().string() + '"'
                                : before + file.stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

void Library::suggestFile(Diagnostic &diag, const std::string &path) {
  std::error_code error;
  if (fs::exists(path, error))
    return;
  std::vector<std::string> names;
  fs::path folder = fs::path(path).parent_path();
  for (const fs::path &file : filesIn(folder))
    names.push_back((folder / file.filename()).string());
  std::string near = std::count(names.begin(), names.end(), path + ".titan")
                         ? path + ".titan"
                         : nearestName(path, names);
  if (!near.empty())
    diag.help("did you mean `" + near + "`?");
}

std::string Library::declaringModule(const std::string &name) const {
  if (name.empty() || name[0] == '_')
    return "";
  for (const std::string &dir : searchDirs)
    for (const char *folder : {"std", "models"})
      for (const fs::path &file : filesIn(fs::path(dir) / folder))
        if (declares(file, name))
          return std::string(folder) + "." + file.stem().string();
  return "";
}

bool Library::suggestImport(Diagnostic &diag, const Unit &unit, const Path &path) const {
  std::string module = declaringModule(path.last().text);
  bool isMeant = !module.empty();
  if (!path.isSimple()) { // `norm.rms_norm`, `std.norm.rms_norm`
    std::string given = path.text().substr(0, path.text().rfind('.'));
    isMeant = isMeant && (module == given || module.substr(module.find('.') + 1) == given);
  }
  if (isMeant && lookup(unit, path.last().text))
    diag.fix(path.loc, path.last().text);
  else if (isMeant)
    diag.help("`" + path.last().text + "` is in the library: add `import " + module +
              "` to the file" + (path.isSimple() ? "" : ", and write `" + path.last().text + "`"));
  return isMeant;
}

} // namespace titan::sema
