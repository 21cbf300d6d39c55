#include "compiler/sema/modules/Library.h"
#include "compiler/sema/modules/PassedParameters.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <filesystem>
#include <functional>

namespace fs = std::filesystem;

namespace titan::sema {

using namespace syntax;

const std::vector<Formal> *getFormals(const Decl &decl) {
  if (auto *model = decl.as<ModelDecl>())
    return &model->formals;
  if (auto *block = decl.as<BlockDecl>())
    return &block->formals;
  if (auto *optimizer = decl.as<OptimizerDecl>())
    return &optimizer->formals;
  if (auto *schedule = decl.as<ScheduleDecl>())
    return &schedule->formals;
  auto *fn = decl.as<FnDecl>();
  return fn ? &fn->formals : nullptr;
}

const Name &getName(const Decl &decl) {
  static const Name none;
  if (auto *model = decl.as<ModelDecl>())
    return model->name;
  if (auto *alias = decl.as<ModelAliasDecl>())
    return alias->name;
  if (auto *block = decl.as<BlockDecl>())
    return block->name;
  if (auto *fn = decl.as<FnDecl>())
    return fn->name;
  if (auto *optimizer = decl.as<OptimizerDecl>())
    return optimizer->name;
  if (auto *schedule = decl.as<ScheduleDecl>())
    return schedule->name;
  if (auto *parallel = decl.as<ParallelDecl>())
    return parallel->name;
  if (auto *train = decl.as<TrainDecl>())
    return train->name;
  if (auto *config = decl.as<ConfigDecl>())
    return config->name;
  if (auto *data = decl.as<DataDecl>())
    return data->name;
  return none;
}

const char *getKindName(const Decl &decl) {
  switch (decl.kind) {
  case DeclKind::Import:
    return "import";
  case DeclKind::Model:
  case DeclKind::ModelAlias:
    return "model";
  case DeclKind::Block:
    return "block";
  case DeclKind::Fn:
    return "function";
  case DeclKind::Optimizer:
    return "optimizer";
  case DeclKind::Schedule:
    return "schedule";
  case DeclKind::Data:
    return "data section";
  case DeclKind::Parallel:
    return "parallel map";
  case DeclKind::Weights:
    return "declaration of weights";
  case DeclKind::Config:
    return "configuration";
  case DeclKind::Train:
    break;
  }
  return "run";
}

Namespace getNamespace(const Decl &decl) {
  return decl.is<ParallelDecl>()    ? Namespace::Maps
         : decl.is<TrainDecl>()     ? Namespace::Runs
         : decl.is<OptimizerDecl>() ? Namespace::Optimizers
         : decl.is<ScheduleDecl>()  ? Namespace::Schedules
         : decl.is<ConfigDecl>()    ? Namespace::Configs
         : decl.is<DataDecl>()      ? Namespace::Data
                                    : Namespace::Code;
}

namespace {

std::string canonical(const std::string &path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(path, error);
  return error ? path : full.string();
}

bool isFile(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

} // namespace

const Unit *Library::loadRoot(const std::string &path, std::optional<FileId> text) {
  std::string error;
  std::optional<FileId> file = text ? text : sources.loadFile(path, error);
  if (!file) {
    suggestFile(diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + error),
                path);
    return nullptr;
  }
  const Unit *unit = load(path, *file, {});
  return diags.hasErrors() ? nullptr : unit;
}

const Unit *Library::load(const std::string &path, FileId file, Location at) {
  std::string key = canonical(path);
  auto made = std::make_unique<Unit>();
  Unit &unit = *made;
  unit.path = path;
  unit.file = file;
  unit.module = parse(sources, file, diags);
  units[key] = std::move(made);
  declare(unit);
  addPrelude(unit);
  loading.push_back({key, at});
  for (const DeclPtr &decl : unit.module->decls)
    if (auto *imports = decl->as<ImportDecl>())
      for (const ImportDecl::Item &item : imports->items)
        import(unit, item);
  loading.pop_back();
  if (diags.errorReports() == 0) // else calls may be incomplete
    replacePassedParameters(*this, unit, diags);
  for (const DeclPtr &decl : unit.module->decls)
    checkFormals(*decl);
  return &unit;
}

static bool isDefault(const Decl &decl) {
  if (auto *optimizer = decl.as<OptimizerDecl>())
    return optimizer->isDefault;
  auto *schedule = decl.as<ScheduleDecl>();
  return schedule && schedule->isDefault;
}

void Library::declare(Unit &unit) {
  for (const DeclPtr &decl : unit.module->decls) {
    if (decl->is<ImportDecl>() || decl->is<WeightsDecl>())
      continue; // these have no names
    if (auto *data = decl->as<DataDecl>()) {
      checkData(*data);
      declareDefault(unit, *decl);
      continue;
    }
    const Name &name = getName(*decl);
    auto [entry, fresh] =
        unit.declared.try_emplace({getNamespace(*decl), name.text}, Symbol{decl.get(), &unit});
    if (!fresh)
      diags.report(Code::Redeclared, name.loc, "`" + name.text + "` is declared twice")
          .note(getName(*entry->second.decl).loc, "the first declaration is here");
    if (isDefault(*decl))
      declareDefault(unit, *decl);
  }
}

void Library::declareDefault(Unit &unit, const Decl &decl) {
  auto [entry, fresh] = unit.defaults.try_emplace(getNamespace(decl), Symbol{&decl, &unit});
  if (!fresh)
    diags
        .report(Code::Redeclared, getName(decl).loc,
                std::string("a file has one default ") + getKindName(decl))
        .note(getName(*entry->second.decl).loc, "the first one is here");
}

Symbol Library::findDefault(const Unit &unit, Namespace ns) const {
  if (auto own = unit.defaults.find(ns); own != unit.defaults.end())
    return own->second;
  for (const auto &[path, file] : units)
    if (auto found = file->defaults.find(ns); file->isPrelude && found != file->defaults.end())
      return found->second;
  return {};
}

/// The dimension that a setting of `default data` names; null if it names none.
static const Name *dimIn(const Setting &setting) {
  auto *value = setting.value && !setting.block ? setting.value->as<NameExpr>() : nullptr;
  return value && value->path.isSimple() ? &value->path.last() : nullptr;
}

const Name *Library::dataDim(const Unit &unit, std::string_view role) const {
  auto find = [&](const Unit &file) -> const Name * {
    auto data = file.defaults.find(Namespace::Data);
    if (data == file.defaults.end())
      return nullptr;
    for (const Setting &setting : data->second.decl->as<DataDecl>()->settings)
      if (setting.path.text() == role)
        return dimIn(setting);
    return nullptr;
  };
  if (const Name *own = find(unit))
    return own;
  for (const auto &[path, file] : units)
    if (const Name *name = file->isPrelude ? find(*file) : nullptr)
      return name;
  return nullptr;
}

/// `default data` names the dimensions of the two roles. Runs have all other settings of data.
void Library::checkData(const DataDecl &decl) {
  std::map<std::string, Location> known;
  for (const Setting &setting : decl.settings) {
    const std::string role = setting.path.text();
    auto [entry, fresh] = known.try_emplace(role, setting.path.loc);
    if (!fresh)
      diags.report(Code::OptionTwice, setting.path.loc, "`" + role + "` is set twice")
          .note(entry->second, "it was set here");
    else if (role != "samples" && role != "positions")
      suggestName(diags.report(Code::UnknownOption, setting.path.loc,
                               "`default data` has no option `" + role + "`"),
                  setting.path.loc, role, {"samples", "positions"},
                  "other settings of data belong to a run; it has ");
    else if (!dimIn(setting))
      diags
          .report(Code::OptionType, setting.value ? setting.value->loc : setting.loc,
                  "`" + role + "` takes the name of a dimension")
          .help("write the name alone: `" + role + " = image`");
  }
}

void Library::checkFormals(const Decl &decl) {
  const std::vector<Formal> *formals = getFormals(decl);
  if (!formals)
    return;
  std::map<std::string, Location> known;
  for (const Formal &formal : *formals) {
    const Name &name = formal.name;
    if (auto [entry, fresh] = known.try_emplace(name.text, name.loc); !fresh)
      diags
          .report(Code::Redeclared, name.loc,
                  "`" + getName(decl).text + "` has two parameters called `" + name.text + "`")
          .note(entry->second, "the first is here");
  }
}

/// Adds the declarations that need no import. A standard library without a prelude is legal, so the
/// compiler works on a single file.
void Library::addPrelude(Unit &unit) {
  for (const char *name : {"prelude.titan", "optimizers.titan", "schedules.titan", "data.titan"})
    addPrelude(unit, name);
}

void Library::addPrelude(Unit &unit, const char *name) {
  for (const std::string &dir : searchDirs) {
    fs::path path = fs::path(dir) / "std" / name;
    if (!isFile(path))
      continue;
    std::string key = canonical(path.string());
    auto known = units.find(key);
    std::string error;
    if (known == units.end()) {
      if (std::optional<FileId> file = sources.loadFile(path.string(), error))
        load(path.string(), *file, {});
      known = units.find(key);
    }
    if (known != units.end() && known->second.get() != &unit) {
      known->second->isPrelude = true;
      bind(unit, *known->second);
    }
    return;
  }
}

std::string Library::find(const Unit &unit, const ImportDecl::Item &item,
                          std::vector<std::string> &tried) const {
  fs::path here = fs::path(unit.path).parent_path();
  fs::path relative;
  if (item.file) {
    relative = item.file->text;
  } else {
    for (const Name &segment : item.path.segments)
      relative /= segment.text;
    relative += ".titan";
  }
  std::vector<fs::path> directories = {here};
  if (!item.file || relative.is_relative())
    directories.insert(directories.end(), searchDirs.begin(), searchDirs.end());
  for (const fs::path &dir : directories) {
    fs::path path = (dir / relative).lexically_normal();
    if (isFile(path))
      return path.string();
    tried.push_back(path.string());
  }
  return "";
}

bool Library::reportCycle(const std::string &path, Location at) {
  auto open = std::find_if(loading.begin(), loading.end(),
                           [&](const auto &entry) { return entry.first == path; });
  if (open == loading.end())
    return false;
  auto shown = [](const std::string &file) { return fs::path(file).filename().string(); };
  std::string cycle = shown(open->first);
  Diagnostic &diag = diags.report(Code::ImportCycle, at, "");
  for (auto next = open + 1; next != loading.end(); ++next) {
    cycle += " -> " + shown(next->first);
    diag.note(next->second, "imported from here");
  }
  diag.message = "files import one another: " + cycle + " -> " + shown(open->first);
  return true;
}

void Library::import(Unit &unit, const ImportDecl::Item &item) {
  std::vector<std::string> tried;
  std::string path = find(unit, item, tried);
  std::string name = item.file ? item.file->text : item.path.text();
  if (path.empty()) {
    Diagnostic &diag =
        diags.report(Code::ImportNotFound, item.loc, "no file for the import `" + name + "`");
    for (const std::string &candidate : tried)
      diag.note("looked for " + candidate);
    if (!item.file && item.path.last().text == "titan")
      diag.help("write a file name in quotes: `import \"" + name + "\"`");
    else
      suggestName(diag, item.loc, name, importable(unit, item));
    return;
  }
  std::string key = canonical(path);
  if (reportCycle(key, item.loc))
    return;
  auto known = units.find(key);
  constexpr size_t maxDepth = 200;
  if (known == units.end() && loading.size() >= maxDepth) {
    diags.report(Code::ImportsTooDeep, item.loc,
                 "over " + std::to_string(maxDepth) + " files import one another in a chain");
    return;
  }
  if (known == units.end()) {
    std::string error;
    std::optional<FileId> file = sources.loadFile(path, error);
    if (!file) {
      diags.report(Code::CannotReadFile, item.loc, "cannot read `" + path + "`: " + error);
      return;
    }
    load(path, *file, item.loc);
    known = units.find(key);
  }
  const Unit &imported = *known->second;
  std::string called = item.alias  ? item.alias->text
                       : item.file ? fs::path(path).stem().string()
                                   : item.path.last().text;
  auto [entry, fresh] = unit.namespaces.try_emplace(called, Import{&imported, item.loc});
  if (!fresh && entry->second.unit != &imported)
    diags.report(Code::Redeclared, item.loc, "two imports have the name `" + called + "`")
        .note(entry->second.loc, "the other one is here")
        .help("give one of them another name: `" + name + " as other`");
  if (!item.alias)
    bind(unit, imported);
}

/// Names that begin with `_` are private to their file.
static bool isPrivate(const std::string &name) {
  return name[0] == '_';
}

void Library::bind(Unit &unit, const Unit &from) {
  for (const auto &[name, symbol] : from.declared) {
    if (isPrivate(name.second))
      continue;
    auto [entry, fresh] = unit.imported.try_emplace(name, symbol);
    if (!fresh && entry->second.unit->isPrelude)
      entry->second = symbol; // an import overrides the prelude
    else if (!fresh && entry->second.decl != symbol.decl) {
      std::vector<const Unit *> &owners = unit.ambiguous[name];
      if (owners.empty())
        owners.push_back(entry->second.unit);
      owners.push_back(&from);
    }
  }
}

Symbol Library::lookup(const Unit &unit, const Path &path, Namespace ns) const {
  auto in = [&](const SymbolTable &names, const std::string &name) {
    auto found = names.find({ns, name});
    return found == names.end() ? Symbol{} : found->second;
  };
  if (path.isSimple()) {
    Symbol own = in(unit.declared, path.last().text);
    return own ? own : in(unit.imported, path.last().text);
  }
  if (path.segments.size() != 2)
    return {};
  auto file = unit.namespaces.find(path.segments[0].text);
  bool isKnown = file != unit.namespaces.end() && !isPrivate(path.last().text);
  return isKnown ? in(file->second.unit->declared, path.last().text) : Symbol{};
}

Symbol Library::lookup(const Unit &unit, const std::string &name, Namespace ns) const {
  Path path;
  size_t dot = name.find('.');
  if (dot != std::string::npos)
    path.segments.push_back({name.substr(0, dot), {}});
  path.segments.push_back({dot == std::string::npos ? name : name.substr(dot + 1), {}});
  return lookup(unit, path, ns);
}

Symbol Library::lookupPrivate(const Unit &unit, const Path &path) const {
  for (const auto &[name, file] : unit.namespaces) {
    auto found = file.unit->declared.find({Namespace::Code, path.last().text});
    bool isMeant = path.isSimple() || path.segments[0].text == name;
    if (isMeant && isPrivate(path.last().text) && found != file.unit->declared.end())
      return found->second;
  }
  return {};
}

std::vector<std::string> Library::ambiguous(const Unit &unit, const Path &path,
                                            Namespace ns) const {
  std::vector<std::string> meanings;
  auto found = unit.ambiguous.find({ns, path.last().text});
  if (!path.isSimple() || found == unit.ambiguous.end() ||
      unit.declared.count({ns, path.last().text}))
    return meanings;
  for (const auto &[name, file] : unit.namespaces)
    if (std::find(found->second.begin(), found->second.end(), file.unit) != found->second.end())
      meanings.push_back(name + "." + path.last().text);
  return meanings;
}

std::vector<std::pair<std::string, Import>> Library::findImports(const Unit &unit, const Path &path,
                                                                 Namespace ns) const {
  std::vector<std::pair<std::string, Import>> all;
  if (!isPrivate(path.last().text))
    for (const auto &entry : unit.namespaces)
      if (entry.second.unit->declared.count({ns, path.last().text}))
        all.push_back(entry);
  return all;
}

bool Library::noteImports(Diagnostic &diag, const Unit &unit, const Path &path,
                          Namespace ns) const {
  if (path.segments.size() != 2 || unit.namespaces.count(path.segments[0].text))
    return false;
  std::vector<std::pair<std::string, Import>> meant = findImports(unit, path, ns);
  for (const auto &[name, import] : meant)
    diag.note(import.loc, "this import declares `" + name + "." + path.last().text + "`");
  if (meant.size() == 1)
    diag.fix(path.segments[0].loc, meant[0].first);
  return !meant.empty();
}

/// Calls `visit` for each name of the namespace. Other namespaces, such as thousands of runs, cost
/// nothing.
static void forEachName(const SymbolTable &names, Namespace ns,
                        const std::function<void(const std::string &)> &visit) {
  for (auto it = names.lower_bound({ns, ""}); it != names.end() && it->first.first == ns; ++it)
    visit(it->first.second);
}

std::vector<std::string> Library::names(const Unit &unit, Namespace ns) const {
  std::vector<std::string> all;
  for (const SymbolTable *names : {&unit.declared, &unit.imported})
    forEachName(*names, ns, [&](const std::string &name) { all.push_back(name); });
  for (const auto &[name, file] : unit.namespaces)
    forEachName(file.unit->declared, ns, [&](const std::string &declared) {
      if (!isPrivate(declared))
        all.push_back(name + "." + declared);
    });
  return all;
}

} // namespace titan::sema
