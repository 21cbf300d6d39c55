// The declarations that a run chooses by name: its optimizer and its schedule. `optimizer = NAME {
// ... }` names a declaration that is visible in the file and sets its options.
#pragma once

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// The optimizer or the schedule: a run chooses one declaration of each kind.
struct ChoiceKind {
  Namespace ns;
  const char *section; ///< of the options, and the word in diagnostics
  Chosen Run::*chosen;

  std::string namePath() const { return std::string(section) + ".name"; }
};

const std::vector<ChoiceKind> &choiceKinds();
extern const ChoiceKind optimizerChoice, scheduleChoice;
/// The kind whose section or name `path` is (`optimizer`, `optimizer.name`); null: none.
const ChoiceKind *choiceAt(const std::string &path);

/// The value of a setting as the name of a declaration; empty if it is no name.
std::optional<syntax::Path> chosenName(const syntax::Expr &expr);
void reportNoName(const ChoiceKind &kind, const syntax::Expr &expr, DiagnosticEngine &diags);

/// The declaration called `path` in `unit`, else in the file of the run's model.
Symbol lookupChoice(const ChoiceKind &kind, const syntax::Path &path, const Unit &unit,
                    const Run &run, const Library &library);
/// The same; reports an unknown name.
Symbol findChoice(const ChoiceKind &kind, const syntax::Path &path, const Unit &unit,
                  const Run &run, const Library &library, DiagnosticEngine &diags);

/// Makes `symbol` the choice of the run. Drops the options of the former one. Returns whether the
/// choice has changed.
bool choose(const ChoiceKind &kind, const Symbol &symbol, Run &run, const Library &library,
            DiagnosticEngine &diags);
/// The choice of a run in `unit` that names none.
void chooseDefault(const ChoiceKind &kind, const Unit &unit, Run &run, const Library &library,
                   DiagnosticEngine &diags);

} // namespace titan::sema
