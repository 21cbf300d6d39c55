// Error recovery of the generated parser. It reports a syntax error once, with Titan's message,
// skips the current statement (setting, axis, declaration) and continues after it. It inserts and
// skips no tokens to repair a statement, because a wrong guess causes misleading errors.
#pragma once

#include "compiler/syntax/Expectation.h"
#include "compiler/syntax/PrepareTokens.h"

namespace titan::syntax {

class Recovery : public antlr4::DefaultErrorStrategy {
public:
  /// `prepared.tokens` are the parser's tokens, index by index.
  Recovery(const SourceManager &sources, FileId file, const PreparedTokens &prepared,
           DiagnosticEngine &diags)
      : sources(sources), file(file), prepared(prepared), diags(diags) {}

  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void sync(antlr4::Parser *parser) override;

private:
  /// Reports an error at token `index`. Null if the error follows from a reported one.
  Diagnostic *report(size_t index, const Expectation &expected);
  void addHints(Diagnostic &diagnostic, size_t index, const Expectation &expected) const;
  bool addWordHint(Diagnostic &diagnostic, size_t index, const Expectation &expected) const;
  bool addBracesHint(Diagnostic &diagnostic, size_t index, const Expectation &expected) const;
  /// Advice for an error at `index` by the statement that begins at `start`; null if there is none.
  const char *remedyInDims(size_t index, const Expectation &expected) const;
  const char *remedyIn(size_t start, size_t index) const;
  bool isInAxis(size_t index) const;
  bool isRun(const std::string &name) const;
  void noteBraceBefore(Diagnostic &diagnostic, size_t index) const;
  void skipStatement(antlr4::Parser *parser) const;
  size_t entryStart(size_t index) const;
  bool followsReportedError(size_t index) const;
  Location getLocation(size_t index) const;
  std::string text(size_t index) const;
  std::string textBetween(size_t first, size_t last) const;

  const SourceManager &sources;
  FileId file;
  const PreparedTokens &prepared;
  DiagnosticEngine &diags;
};

} // namespace titan::syntax
