#include "compiler/sema/elaboration/BodyNames.h"

#include <cctype>

namespace titan::sema {

using namespace syntax;

std::vector<const Body *> getBodies(const Stmt &stmt) {
  std::vector<const Body *> bodies;
  if (auto *repeat = stmt.as<RepeatStmt>())
    bodies.push_back(&repeat->body);
  if (auto *region = stmt.as<PrecisionStmt>())
    bodies.push_back(&region->body);
  if (auto *branch = stmt.as<IfStmt>()) {
    for (const IfStmt::Branch &each : branch->branches)
      bodies.push_back(&each.body);
    if (branch->elseBody)
      bodies.push_back(&*branch->elseBody);
  }
  return bodies;
}

std::vector<Name> assignedNames(const Body &body) {
  std::vector<Name> names;
  auto add = [&](const std::vector<Name> &more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  for (const StmtPtr &stmt : body.stmts) {
    if (auto *assign = stmt->as<AssignStmt>())
      add(assign->targets);
    for (const Body *inner : getBodies(*stmt))
      add(assignedNames(*inner));
  }
  return names;
}

std::vector<Name> definedNames(const Stmt &stmt) {
  std::vector<Name> names;
  if (auto *let = stmt.as<LetStmt>())
    for (const LetStmt::Target &target : let->targets)
      names.push_back(target.name);
  if (auto *dims = stmt.as<DimsStmt>())
    for (const DimsStmt::Item &item : dims->items)
      names.push_back(item.name);
  if (auto *param = stmt.as<ParamStmt>())
    names.push_back(param->name);
  if (auto *state = stmt.as<StateStmt>())
    names.push_back(state->name);
  if (auto *option = stmt.as<OptionStmt>())
    names.push_back(option->name);
  if (auto *input = stmt.as<InputStmt>())
    names.push_back(input->name);
  if (auto *output = stmt.as<OutputStmt>(); output && output->value)
    names.push_back(output->name);
  if (!stmt.is<RepeatStmt>())
    for (const Body *body : getBodies(stmt))
      for (const StmtPtr &inner : body->stmts)
        for (const Name &name : definedNames(*inner))
          names.push_back(name);
  return names;
}

std::vector<Name> namesAfterAs(const SourceManager &sources, Location at) {
  const std::string_view text = sources.text(at);
  auto isIdentifierChar = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  std::vector<Name> names;
  bool follows = false, isList = false; // after `as`; in the parentheses after `as`
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && isIdentifierChar(static_cast<unsigned char>(text[end])))
      ++end;
    const std::string word(text.substr(i, end - i));
    if (word.empty()) {
      isList = (isList && text[i] != ')') || (follows && text[i] == '(');
      follows = follows && (text[i] == ' ' || text[i] == '\n');
      ++i;
      continue;
    }
    size_t next = end; // after `as`, `new` is a name only if no name follows
    while (next < text.size() && text[next] == ' ')
      ++next;
    const bool hides = follows && word == "new" && next < text.size() &&
                       isIdentifierChar(static_cast<unsigned char>(text[next]));
    if ((follows && !hides) || isList)
      names.push_back({word, at});
    follows = word == "as" || hides;
    i = end;
  }
  return names;
}

} // namespace titan::sema
