// Builds configurations of other software from the parse tree.
#include "compiler/syntax/Builder.h"

namespace titan::syntax {

DeclPtr Builder::buildConfig(P::ConfigDeclContext &context) {
  auto made = std::make_unique<ConfigDecl>(at(context));
  made->name = context.STRING() ? unquote(*context.STRING()) : name(*context.newName());
  if (context.modelName())
    made->model = path(*context.modelName()->path());
  if (context.configKey()) {
    ConfigEntry &object = made->object.emplace();
    object.kind = ConfigEntry::Kind::Optional;
    object.keys = {path(*context.configKey()->path())};
    object.loc = object.keys.front().loc;
  }
  for (P::SectionNameContext *section : context.sectionName())
    made->sections.push_back(path(*section->path()));
  made->entries = buildEntries(*context.configBody());
  return made;
}

std::vector<Path> Builder::keys(const std::vector<P::ConfigKeyContext *> &all) const {
  std::vector<Path> paths;
  for (P::ConfigKeyContext *key : all)
    paths.push_back(path(*key->path()));
  return paths;
}

std::vector<ConfigEntry> Builder::buildEntries(P::ConfigBodyContext &context) {
  std::vector<ConfigEntry> entries;
  for (P::ConfigEntryContext *entry : context.configEntry())
    if (!entry->exception)
      entries.push_back(buildEntry(*entry));
  return entries;
}

ConfigEntry Builder::buildEntry(P::ConfigEntryContext &context) {
  ConfigEntry entry;
  const bool isList = context.IGNORE() || context.TRAINING();
  std::vector<P::ConfigKeyContext *> listed = context.configKey();
  if (context.UNLESS() && !listed.empty()) {
    entry.absentKey = path(*listed.back()->path());
    entry.absentValue = build(*context.expr().back());
    listed.pop_back();
  }
  entry.keys = keys(isList ? listed : context.configKeys()->configKey());
  entry.loc = sources.cover(entry.keys.front().loc, entry.keys.back().loc);
  if (isList) {
    entry.kind = context.IGNORE() ? ConfigEntry::Kind::Ignore : ConfigEntry::Kind::Training;
    if (context.TRAINING() && entry.absentKey)
      diags.report(Code::ExpectedSyntax, entry.absentKey->loc,
                   "`training` lists arguments, which have no condition");
    return entry;
  }
  if (context.OPTIONAL()) {
    entry.kind = ConfigEntry::Kind::Optional;
    entry.members = buildEntries(*context.configBody());
    return entry;
  }
  if (context.elements()) {
    entry.count = build(*context.elements()->expr());
    entry.index = name(*context.elements()->newName());
  }
  entry.value = build(*context.expr(0));
  entry.loc = sources.cover(entry.loc, entry.value->loc);
  if (context.DEFAULT())
    entry.fallback = build(*context.expr(1));
  entry.nullIsNone = context.UNLESS() != nullptr;
  return entry;
}

} // namespace titan::syntax
