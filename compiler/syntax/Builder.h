// Converts the parse tree to the syntax tree. Checks rules that a grammar cannot express well: the
// order of arguments, chained comparisons, operands of `as`.
//
// Entries (statements, settings, axes, declarations) that the parser skipped are omitted. All other
// parse trees are complete, so their children need no null checks.
#pragma once

#include "TitanParser.h"
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"

namespace titan::syntax {

class Builder {
public:
  Builder(const SourceManager &sources, FileId file, DiagnosticEngine &diags)
      : sources(sources), file(file), diags(diags) {}

  void build(TitanParser::FileContext &file, Module &module);
  ExprPtr build(TitanParser::ExprContext &expr);
  /// The calls with an argument `with f` so far.
  const std::vector<CallExpr *> &passing() const { return passingCalls; }

private:
  using P = TitanParser;

  // The location of a token or of the text of a rule; names and literals.
  Location at(const antlr4::Token &token) const;
  Location at(const antlr4::ParserRuleContext &context) const;
  Location at(antlr4::tree::TerminalNode &node) const { return at(*node.getSymbol()); }
  std::string text(const antlr4::ParserRuleContext &context) const;
  Name name(antlr4::ParserRuleContext &context) const;
  /// The value of a string literal, without quotes and escapes.
  Name unquote(antlr4::tree::TerminalNode &string);
  Path path(P::PathContext &context) const;
  template <typename Context> std::vector<Name> names(const std::vector<Context *> &all) const;
  std::vector<Path> paths(P::DimNamesContext &context) const;

  // Expressions.
  ExprPtr buildMatch(P::ChoiceContext &context);
  ExprPtr buildBinary(P::BinaryContext &context);
  ExprPtr buildOperand(P::OperandContext &context);
  ExprPtr buildBracket(ExprPtr base, P::BracketContext &context);
  IndexItem buildIndexItem(P::BracketItemContext &context);
  ExprPtr buildPrimary(P::PrimaryContext &context);
  ExprPtr buildCall(P::NameOrCallContext &context);
  ExprPtr buildParens(P::ParensContext &context);
  ExprPtr buildInt(antlr4::tree::TerminalNode &node);
  ExprPtr buildFloat(antlr4::tree::TerminalNode &node);
  std::string unescape(std::string_view quoted, Location location);
  Arg buildArg(P::ArgumentContext &context);
  void appendDim(Arg &dims, Arg more) const;
  Arg buildPositional(P::PositionalArgumentContext &context);
  DimBinding buildDims(P::DimsArgumentContext &context);
  void addRenames(DimBinding &binding, P::NewDimsContext &context);
  bool asDims(const Expr &expr, std::vector<Path> &dims) const;
  void checkOrder(const std::vector<Arg> &args);

  // Types and settings.
  DimList buildDimList(P::DimListContext &context);
  TypeSpec buildType(P::TypedNameContext &context);
  std::vector<Setting> buildSettings(P::SettingsContext &context);
  std::vector<Setting> buildSettings(const std::vector<P::SettingContext *> &entries);
  Setting buildSetting(P::SettingContext &context);

  // Statements.
  Body buildBody(P::BodyContext &context);
  StmtPtr buildStmt(P::StatementContext &context);
  StmtPtr buildDims(P::DimsStmtContext &context);
  StmtPtr buildParam(P::ParamStmtContext &context);
  StmtPtr buildUpdate(P::UpdateStmtContext &context);
  StmtPtr buildLoss(P::LossStmtContext &context);
  StmtPtr buildMetric(P::MetricStmtContext &context);
  StmtPtr buildState(P::StateStmtContext &context);
  StmtPtr buildOption(P::OptionStmtContext &context);
  StmtPtr buildOutput(P::OutputStmtContext &context);
  StmtPtr buildLet(P::LetStmtContext &context);
  StmtPtr buildAssign(P::AssignStmtContext &context);
  StmtPtr buildRepeat(P::RepeatStmtContext &context);
  StmtPtr buildIf(P::IfStmtContext &context);

  // Declarations; null where an erroneous component was skipped.
  DeclPtr buildDecl(P::DeclarationContext &context);
  DeclPtr buildImport(P::ImportDeclContext &context);
  DeclPtr buildModel(P::ModelDeclContext &context);
  DeclPtr buildBlock(P::BlockDeclContext &context);
  DeclPtr buildFn(P::FnDeclContext &context);
  /// `Made` is OptimizerDecl or ScheduleDecl.
  template <typename Made, typename Context> DeclPtr buildOptimizerOrSchedule(Context &context);
  DeclPtr buildData(P::DataDeclContext &context);
  DeclPtr buildParallel(P::ParallelDeclContext &context);
  /// Extends `location` to the text of both lists, each of which may be null.
  AxisUse buildUse(P::SplitsContext *splits, P::StoresContext *stores, Location &location);
  AxisDecl buildAxis(P::AxisContext &context);
  NodesDecl buildNodes(P::AxisContext &context);
  OverrideDecl buildOverrides(P::AxisContext &context);
  DeclPtr buildTrain(P::TrainDeclContext &context);
  DeclPtr buildConfig(P::ConfigDeclContext &context);
  std::vector<ConfigEntry> buildEntries(P::ConfigBodyContext &context);
  ConfigEntry buildEntry(P::ConfigEntryContext &context);
  std::vector<Path> keys(const std::vector<P::ConfigKeyContext *> &all) const;
  std::vector<Formal> buildFormals(P::FormalsContext &context);

  // Weights of other software.
  DeclPtr buildWeights(P::WeightsDeclContext &context);
  void buildEntry(P::WeightsEntryContext &context, WeightsDecl &made);
  void buildComponent(P::WeightsEntryContext &context, WeightsDecl &made);
  void buildWordEntry(P::WeightsEntryContext &context, WeightsDecl &made);
  WeightsDecl::Split buildSplit(P::WeightsEntryContext &context);
  WeightsDecl::Dim buildStoredDim(P::StoredDimContext &context);
  WeightsDecl::Factor buildStoredFactor(P::StoredFactorContext &context);
  /// Returns whether the word is `expected`; if not, reports it.
  bool checkWord(P::SoleWordContext &word, const char *expected);

  const SourceManager &sources;
  FileId file;
  DiagnosticEngine &diags;
  std::vector<CallExpr *> passingCalls;
};

template <typename Context>
std::vector<Name> Builder::names(const std::vector<Context *> &all) const {
  std::vector<Name> out;
  for (Context *context : all)
    out.push_back(name(*context));
  return out;
}

} // namespace titan::syntax
