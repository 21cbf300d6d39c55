// The errors and warnings of titanc about a program. Their texts are part of the language: tests
// and the documentation rely on them.
//
// A diagnostic has a code (Codes.def), a location, one sentence, notes at *other* locations, and a
// remedy if there is one. Diagnostics are collected, so a tool can print text or JSON, sort them,
// and report several independent errors of one file.
//
//   diags.report(Code::UnknownDimension, loc, "no dimension is named `heds` here")
//       .note(declLoc, "`heads` is declared here")
//       .fix(loc, "heads");
//
// Messages are lower case, without a full stop, with source text in `backquotes`, and say what
// would be legal.
#pragma once

#include "compiler/diagnostics/SourceManager.h"

#include <iosfwd>

namespace titan {

enum class Severity { Note, Warning, Error };

/// The codes of all diagnostics; the value is the number in T0123.
enum class Code : uint16_t {
#define TITAN_DIAGNOSTIC(number, name, severity, title, explanation) name = number,
#include "compiler/diagnostics/Codes.def"
};

/// The static description of a code, for `titanc explain` and docs/errors.md.
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
/// Accepts "T0123"; returns null for other text.
const CodeInfo *findCode(std::string_view text);
/// "T0123".
std::string codeText(Code code);

/// A second location with its relation to the first. A note may lack a location.
struct Note {
  Location location;
  std::string message;
};

/// A proposed change: `replacement` instead of the text at `location`; an insertion if the location
/// has length 0.
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
  /// Adds a replacement, printed as `help: replace by ...` unless help() gave a text.
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

  /// Sorts the diagnostics from number `first` on by source location.
  void sort(size_t first = 0);

  void setWarningsAsErrors(bool on) { warningsAsErrors = on; }
  void setErrorLimit(size_t limit) { errorLimit = limit; }

  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  /// The number of calls that reported an error, repeated errors included. A difference between two
  /// values shows that an error was reported in between.
  size_t errorReports() const { return reports; }
  /// Whether further errors are only counted, so that callers need not compute their texts.
  bool isFull() const { return errors > errorLimit; }
  size_t warningCount() const { return warnings; }
  const std::deque<Diagnostic> &all() const { return diagnostics; }
  const SourceManager &sourceManager() const { return sources; }

  /// clang's form: `file:line:col: error: message [T0123]`, the line, carets, notes, help.
  /// In order of report. Auto colours when `os` is std::cout or std::cerr and that is a terminal.
  void print(std::ostream &os, ColorMode colors = ColorMode::Auto) const;
  /// One JSON object a line: severity, code, message, file, line, column, length, notes, help, fix.
  void printJson(std::ostream &os) const;
  /// `2 errors, 1 warning`, and the number of dropped ones; nothing when there are none.
  void printSummary(std::ostream &os) const;

private:
  const SourceManager &sources;
  std::deque<Diagnostic> diagnostics;
  std::optional<Diagnostic> dropped; // receives diagnostics past the limit
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
