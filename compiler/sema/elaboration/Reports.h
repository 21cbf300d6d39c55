// Builds the diagnostics of the elaborator, with the calls that lead to an error.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <functional>
#include <string_view>
#include <unordered_map>

namespace titan::sema {

class Reports : ElaboratorComponent {
public:
  explicit Reports(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// Adds a note for each active call.
  Diagnostic &report(Code code, Location at, std::string message);
  /// Notes the dimensions of an operand and, for a name, its declaration.
  void noteOperand(Diagnostic &diag, const syntax::Expr &expr, const DimSet &dims);
  bool expectTensor(const Value &value, Location at, const char *what);
  /// Reports a function or block in place of a number or a tensor.
  bool refuseCallable(const Value &value, Location at);

  using Candidates = std::function<std::vector<std::string>()>;
  /// Suggests the nearest candidate and notes its declaration. Candidates are collected only if the
  /// report will be shown, because collecting them for each of many errors is slow.
  void suggest(Diagnostic &diag, const syntax::Path &path, const Candidates &candidates);
  Diagnostic &unknownName(const syntax::Path &path, Location at);
  Diagnostic &unknownName(const syntax::Name &name);
  void unknownDim(const syntax::Name &name);
  /// Reports `x.shape`, where `x` is a value; false if `x` is no value.
  bool member(const syntax::Path &path);

private:
  void noteUnused(Diagnostic &diag);
  std::vector<std::string> listUnused(const std::vector<std::string> &candidates);
  bool isCreatedLater(Diagnostic &diag, const syntax::Name &name);
  void suggestFunction(Diagnostic &diag, const syntax::Path &path, const Binding &binding);
  void helpToDeclare(Diagnostic &diag, const syntax::ModelDecl &decl, const syntax::Name &name);

  // The names in the text of the latest declaration with an error, counted once for all its errors.
  const syntax::Decl *counted = nullptr;
  std::unordered_map<std::string_view, size_t> counts;
};

} // namespace titan::sema
