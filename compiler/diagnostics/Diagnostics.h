// Diagnostics: what a user reads when something is wrong, so they are part of the language.
//
// One is a code (see Codes.def), a place, one sentence, notes at the *other* places involved, and,
// where there is one, the remedy. They are collected rather than printed at once, so that a tool
// can choose text or JSON, sort them, and report several independent mistakes of one file.
//
//   diags.report(Code::UnknownDimension, loc, "no dimension is named `heds` here")
//       .note(declLoc, "`heads` is declared here")
//       .fix(loc, "heads");
//
// Messages: lower case, no full stop, source text in `backquotes`, and they say what would be
// legal.
#ifndef TITAN_COMPILER_DIAGNOSTICS_DIAGNOSTICS_H
#define TITAN_COMPILER_DIAGNOSTICS_DIAGNOSTICS_H

#include "compiler/diagnostics/SourceManager.h"

#include <iosfwd>

namespace titan {

enum class Severity { Note, Warning, Error };

/// Every diagnostic's code; the enumerator's value is the number in T0123.
enum class Code : uint16_t {
#define TITAN_DIAGNOSTIC(number, name, severity, title, explanation) name = number,
#include "compiler/diagnostics/Codes.def"
};

/// What is known of a code beforehand; `titanc explain` and docs/errors.md print it.
struct CodeInfo {
  Code code;
  Severity severity;
  std::string_view name;        // the enumerator's
  std::string_view title;       // one line
  std::string_view explanation; // sentences: why it is wrong, an example, the remedy
};

/// All codes in the order of Codes.def.
const std::vector<CodeInfo> &allCodes();
const CodeInfo &codeInfo(Code code);
/// Accepts "T0123"; returns null for anything that is no code.
const CodeInfo *findCode(std::string_view text);
/// "T0123".
std::string codeText(Code code);

/// A second place, and what it has to do with the first. A note without a place is printed too.
struct Note {
  Location location;
  std::string message;
};

/// Replace what `location` covers (nothing, for length 0) by `replacement`.
struct FixIt {
  Location location;
  std::string replacement;
};

struct Diagnostic {
  Code code;
  Severity severity;
  Location location;
  std::string message;
  std::vector<Note> notes;
  std::string remedy; // printed as `help: ...`
  std::optional<FixIt> fixIt;

  /// These return the diagnostic itself, so that calls chain.
  Diagnostic &note(Location at, std::string text);
  Diagnostic &note(std::string text) { return note(Location(), std::move(text)); }
  Diagnostic &help(std::string text);
  /// Adds a replacement; prints as `help: replace by ...` unless help() gave better words.
  Diagnostic &fix(Location at, std::string replacement);
};

enum class ColorMode { Auto, Always, Never };

class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources(sources) {}

  /// Adds a diagnostic with its code's severity. The reference is valid until sort(). Past
  /// `errorLimit` errors new ones are counted and dropped, so that a broken file cannot flood
  /// memory.
  Diagnostic &report(Code code, Location location, std::string message);

  /// Brings those reported since there were `first` into the order of the text.
  void sort(size_t first = 0);

  void setWarningsAsErrors(bool on) { warningsAsErrors = on; }
  void setErrorLimit(size_t limit) { errorLimit = limit; }

  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  /// Grows with every error, repeated ones included: tells whether something went wrong since.
  size_t errorReports() const { return reports; }
  /// Whether further errors are only counted: then no time need go into what they would say.
  bool isFull() const { return errors > errorLimit; }
  size_t warningCount() const { return warnings; }
  const std::deque<Diagnostic> &all() const { return diagnostics; }
  const SourceManager &sourceManager() const { return sources; }

  /// clang's form: `file:line:col: error: message [T0123]`, the line, carets, notes, help.
  /// In order of report. Auto colours when `os` is std::cout or std::cerr and that is a terminal.
  void print(std::ostream &os, ColorMode colors = ColorMode::Auto) const;
  /// One JSON object a line: severity, code, message, file, line, column, length, notes, help, fix.
  void printJson(std::ostream &os) const;
  /// `2 errors, 1 warning`, and how many were not kept; nothing when there are none.
  void printSummary(std::ostream &os) const;

private:
  const SourceManager &sources;
  std::deque<Diagnostic> diagnostics;
  std::optional<Diagnostic> dropped; // receives what lies past the limit
  size_t errors = 0;
  size_t reports = 0;
  size_t warnings = 0;
  size_t hidden = 0; // counted, but past the limit
  size_t errorLimit = 100;
  bool warningsAsErrors = false;
};

/// The text after `help: `: the remedy, or the description of the replacement; empty without one.
std::string getHelp(const SourceManager &sources, const Diagnostic &diagnostic);

} // namespace titan

#endif
