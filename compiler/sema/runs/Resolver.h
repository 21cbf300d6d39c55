// Collects the settings of a derivation chain of runs and of the command line into one run.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Derivation.h"
#include "compiler/sema/runs/Choices.h"

namespace titan::sema {

class Resolver {
public:
  Resolver(const Library &library, DiagnosticEngine &diags, Run &run)
      : library(library), diags(diags), run(run) {}

  /// Adds the settings of the base runs, then those of the run. Returns false after an error that
  /// leaves no run.
  bool addRun(const Symbol &train);
  void addOverrides(const std::vector<Override> &overrides);
  /// Sets every option of the table. With `demandAll`, reports missing required options.
  void fillDefaults(bool demandAll);

private:
  // Resolver.cpp: from declaration to declaration
  void suggest(Diagnostic &diag, const syntax::Path &path, const Unit &unit, Namespace ns);
  Symbol findBase(const Symbol &symbol, const syntax::TrainDecl &decl);
  bool findMap(const Symbol &symbol, const syntax::TrainDecl &decl);

  // Settings.cpp: from setting to setting
  void addSettings(const std::string &prefix, const std::vector<syntax::Setting> &settings);
  void addSetting(const std::string &prefix, const syntax::Setting &setting);
  void setOptionOrSection(const std::string &path, Location pathLoc, const syntax::Expr &value);
  void setData(const std::string &path, const syntax::CallExpr &call);
  /// Sets an option, an argument of the model, or the degree of an axis.
  void set(const std::string &path, Location pathLoc, const syntax::Expr &value);
  void setDataSize(const std::string &path, Location pathLoc, const syntax::Expr &value);
  void checkDataSizes();
  void choose(const ChoiceKind &kind, const Symbol &symbol);
  bool isOptional(const OptionSpec &spec) const;
  void setChoice(const ChoiceKind &kind, Location pathLoc, const syntax::Expr &value);
  void chooseDeclarations(const std::string &prefix, const syntax::Setting &setting);
  void chooseDefaults();
  void reportUnknown(const std::string &path, Location at);
  bool isModelArgument(const std::string &name) const;
  Value evaluateFor(const OptionSpec &spec, const syntax::Expr &value);
  void resetReplaced(const std::string &path);
  std::string relativeToFile(const std::string &path, Location loc) const;
  Value evaluate(const syntax::Expr &value);
  Value evaluateArgument(const std::string &name, const syntax::Expr &value);
  bool takesCallable(const std::string &name) const;

  const Library &library;
  DiagnosticEngine &diags;
  Run &run;
  const Unit *unit = nullptr;              ///< the scope of the current settings
  std::map<std::string, Location> setHere; ///< paths set by the current declaration
  std::vector<Derivation> chain;
  bool fromCommandLine = false;
  bool fromConfig = false;  ///< in a configuration file, where words are strings
  bool unknownSeen = false; ///< an unknown option, which may be a misspelt missing one
};

} // namespace titan::sema
