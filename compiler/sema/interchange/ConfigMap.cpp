#include "compiler/sema/interchange/ConfigMap.h"
#include "compiler/sema/interchange/Names.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/DataDims.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

const std::vector<Formal> &ConfigMap::formals() const {
  return *getFormals(*subject.base.decl);
}

std::vector<Name> ConfigMap::arguments(const ConfigLine &equation) const {
  std::vector<Name> read = namesIn(*equation.entry->value), found;
  if (equation.entry->count)
    for (Name &name : namesIn(*equation.entry->count))
      read.push_back(std::move(name));
  auto isOther = [&](const Name &name) {
    return std::none_of(formals().begin(), formals().end(),
                        [&](const Formal &formal) { return formal.name.text == name.text; });
  };
  for (Name &name : read)
    if (!isOther(name) && std::none_of(found.begin(), found.end(), [&](const Name &earlier) {
          return earlier.text == name.text;
        }))
      found.push_back(std::move(name));
  return found;
}

bool ConfigMap::readsLength(const ConfigLine &equation) const {
  std::vector<Name> read = namesIn(*equation.entry->value);
  return std::any_of(read.begin(), read.end(),
                     [&](const Name &name) { return name.text == lengthName; });
}

bool ConfigMap::isWithin(size_t inner, size_t outer) const {
  while (inner != outer && inner != 0)
    inner = objects[inner].outer;
  return inner == outer;
}

namespace {

class ConfigResolver {
public:
  ConfigResolver(const Library &library, DiagnosticEngine &diags)
      : library(library), diags(diags) {}

  std::optional<ConfigMap> resolve(const Symbol &symbol) {
    const ConfigDecl &decl = *symbol.decl->as<ConfigDecl>();
    map.decl = symbol;
    map.architecture = decl.name.text;
    map.model = find(*symbol.unit, *decl.model, Namespace::Code, "model");
    if (!map.model)
      return std::nullopt;
    std::optional<SpecifiedModel> subject = specifyModel(map.model, library, diags);
    if (!subject)
      return std::nullopt;
    map.subject = std::move(*subject);
    map.lengthName = defaultDataDims(*map.subject.base.unit, library).positions;
    map.objects.emplace_back();
    if (decl.object)
      map.objects.push_back({&*decl.object, 0});
    addSection(symbol);
    return isGood ? std::optional(std::move(map)) : std::nullopt;
  }

private:
  /// The declaration that a name means, which must be a model or a section of configurations.
  Symbol find(const Unit &unit, const Path &path, Namespace ns, const char *kind) {
    Symbol found = library.lookup(unit, path, ns);
    bool fits = found && (ns == Namespace::Configs
                              ? !found.decl->as<ConfigDecl>()->model
                              : found.decl->is<ModelDecl>() || found.decl->is<ModelAliasDecl>());
    if (fits)
      return found;
    isGood = false;
    Diagnostic &diag = diags.report(Code::UnknownDeclaration, path.loc,
                                    std::string("no ") + kind + " is named `" + path.text() + "`");
    suggestName(diag, path.loc, path.text(), library.names(unit, ns));
    return {};
  }

  /// The entries of a declaration and of its sections.
  void addSection(const Symbol &symbol) {
    if (!sections.insert(symbol.decl).second)
      return;
    const ConfigDecl &decl = *symbol.decl->as<ConfigDecl>();
    for (const Path &section : decl.sections)
      if (Symbol found =
              find(*symbol.unit, section, Namespace::Configs, "section of configurations"))
        addSection(found);
    const bool isSectionOfObject = map.hasObject() && symbol.decl != map.decl.decl;
    addEntries(decl.entries, *symbol.unit, isSectionOfObject ? 1 : 0);
  }

  void addEntries(const std::vector<ConfigEntry> &entries, const Unit &unit, size_t object) {
    for (const ConfigEntry &entry : entries) {
      if (entry.kind == ConfigEntry::Kind::Optional) {
        map.objects.push_back({&entry, object});
        addEntries(entry.members, unit, map.objects.size() - 1);
        continue;
      }
      if (entry.kind == ConfigEntry::Kind::Training) {
        for (const Path &argument : entry.keys)
          map.training.push_back(argument.last());
        continue;
      }
      bool isIgnored = entry.kind == ConfigEntry::Kind::Ignore;
      (isIgnored ? map.ignored : map.equations).push_back({&entry, &unit, object});
      if (isIgnored && object == 1 && map.hasObject() &&
          !entry.absentKey) // as beside a whole model
        map.ignored.push_back({&entry, &unit, 0});
    }
  }

  const Library &library;
  DiagnosticEngine &diags;
  ConfigMap map;
  std::set<const Decl *> sections;
  bool isGood = true;
};

} // namespace

std::optional<ConfigMap> resolveConfig(const Symbol &decl, const Library &library,
                                       DiagnosticEngine &diags) {
  return ConfigResolver(library, diags).resolve(decl);
}

const ConfigValue *findMember(const ConfigValue &object, const Path &path) {
  if (auto whole = object.members.find(path.text()); whole != object.members.end())
    return &whole->second; // a key with a dot: `transformers.js_config`
  const ConfigValue *at = &object;
  for (const Name &name : path.segments) {
    auto member = at->members.find(name.text);
    if (member != at->members.end())
      at = &member->second;
    else if (name.text == "length" && at->length && at != &object)
      at = at->length.get();
    else
      return nullptr;
  }
  return at;
}

Value evaluateQuietly(const Expr &expr, const NamedValues &names, const Library &library,
                      const Unit &unit, const SourceManager &sources) {
  DiagnosticEngine quiet(sources);
  Value value = evalConstant(expr, names, library, unit, quiet);
  return quiet.hasErrors() ? Value() : value;
}

void addDefaults(const SpecifiedModel &model, NamedValues &values, const Library &library,
                 const SourceManager &sources) {
  for (const Formal &formal : *getFormals(*model.base.decl)) {
    const std::string &name = formal.name.text;
    if (values.count(name))
      continue;
    if (auto given = model.arguments.find(name); given != model.arguments.end()) {
      values[name] = given->second.value;
      continue;
    }
    Value value;
    if (formal.defaultValue)
      value = evaluateQuietly(*formal.defaultValue, values, library, *model.base.unit, sources);
    if (!value.isError())
      values[name] = std::move(value);
  }
}

} // namespace titan::sema
