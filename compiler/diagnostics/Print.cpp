// The printed forms of diagnostics: clang's form for people, JSON lines for programs.
#include "base/text/Counted.h"
#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

namespace titan {
namespace {

constexpr size_t longestLine = 160; // in bytes, that is shown completely
// The bytes of a longer line that are shown before and after the caret: with the dots at both ends,
// they fit in a row of a terminal.
constexpr size_t bytesBefore = 32, bytesAfter = 64;

/// Escape sequences, all empty when colours are off.
struct Palette {
  const char *bold = "", *red = "", *magenta = "", *cyan = "", *green = "", *reset = "";

  explicit Palette(bool on) {
    if (!on)
      return;
    bold = "\x1b[1m";
    red = "\x1b[1;31m";
    magenta = "\x1b[1;35m";
    cyan = "\x1b[1;36m";
    green = "\x1b[1;32m";
    reset = "\x1b[0m";
  }

  const char *of(Severity severity) const {
    return severity == Severity::Error ? red : severity == Severity::Warning ? magenta : cyan;
  }
};

bool wantsColor(const std::ostream &os, ColorMode mode) {
  if (mode != ColorMode::Auto)
    return mode == ColorMode::Always;
  return (&os == &std::cout && isatty(STDOUT_FILENO)) ||
         (&os == &std::cerr && isatty(STDERR_FILENO));
}

const char *word(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    break;
  }
  return "error";
}

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The number of terminal columns of a text; invalid text counts by bytes.
size_t columns(std::string_view text) {
  int width = llvm::sys::unicode::columnWidthUTF8(llvm::StringRef(text.data(), text.size()));
  return width < 0 ? text.size() : static_cast<size_t>(width);
}

/// Whether a character is safe on a terminal: it moves no cursor, sets no colours, and does not
/// change the writing direction.
bool isHarmless(uint32_t c) {
  bool isControl = (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0);
  bool isBidirectional =
      (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !isControl && !isBidirectional;
}

/// The text with a `?` for each unsafe character and each invalid byte.
std::string printable(std::string_view text) {
  std::string out;
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.data()), *end = at + text.size();
  while (at < end) {
    const llvm::UTF8 *next = at;
    llvm::UTF32 c = 0, *to = &c;
    bool legal = llvm::ConvertUTF8toUTF32(
                     &next, at + std::min<ptrdiff_t>(end - at, llvm::getNumBytesForUTF8(*at)), &to,
                     &c + 1, llvm::strictConversion) == llvm::conversionOK;
    if (!legal)
      next = at + 1;
    out += legal && isHarmless(c) ? std::string(at, next) : "?";
    at = next;
  }
  return out;
}

/// The visible range of the line: all of it, or a window around the caret.
struct Snippet {
  std::string_view text;
  size_t caret; // byte in `text`
  bool cutBefore = false, cutAfter = false;
};

Snippet snippet(std::string_view line, size_t caret) {
  if (line.size() <= longestLine)
    return {line, caret, false, false};
  size_t begin = caret > bytesBefore ? caret - bytesBefore : 0;
  size_t end = std::min(line.size(), caret + bytesAfter);
  while (begin > 0 && isContinuation(line[begin]))
    --begin;
  while (end < line.size() && isContinuation(line[end]))
    ++end;
  return {line.substr(begin, end - begin), caret - begin, begin > 0, end < line.size()};
}

void printCaret(std::ostream &os, const Palette &colors, const SourceManager &sources,
                Location at) {
  std::string_view line = sources.line(at.file, at.line);
  if (line.empty())
    return;
  Snippet shown = snippet(line, std::min<size_t>(at.col - 1, line.size()));
  std::string_view before = shown.text.substr(0, shown.caret);
  std::string_view marked = shown.text.substr(shown.caret, at.length);
  const char *dots = "...";
  os << (shown.cutBefore ? dots : "") << printable(shown.text) << (shown.cutAfter ? dots : "")
     << '\n';
  // Repeats a tab before the caret, so the caret position is correct for any tab width.
  std::string pad = shown.cutBefore ? "   " : "";
  for (size_t at = 0; at < before.size();) {
    size_t next = std::min(before.find('\t', at), before.size());
    pad.append(columns(printable(before.substr(at, next - at))), ' ');
    if (next < before.size())
      pad += '\t';
    at = next + 1;
  }
  size_t width = std::max<size_t>(1, columns(printable(marked)));
  os << pad << colors.green << '^' << std::string(width - 1, '~') << colors.reset << '\n';
}

void printLine(std::ostream &os, const Palette &colors, const SourceManager &sources, Location at,
               Severity severity, const std::string &message, const std::string &code) {
  os << colors.bold;
  if (at.isValid())
    os << printable(sources.name(at.file)) << ':' << at.line << ':' << at.col << ": ";
  else if (severity != Severity::Note)
    os << "titan: ";
  os << colors.of(severity) << word(severity) << ": " << colors.reset;
  os << (severity == Severity::Note ? "" : colors.bold) << printable(message) << colors.reset;
  if (!code.empty())
    os << " [" << code << ']';
  os << '\n';
  if (at.isValid())
    printCaret(os, colors, sources, at);
}

llvm::json::Value jsonText(std::string_view text) {
  return llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size()));
}

llvm::json::Object json(const SourceManager &sources, Location at) {
  if (!at.isValid())
    return {};
  llvm::json::Object out;
  out["file"] = jsonText(sources.name(at.file));
  out["line"] = at.line;
  out["column"] = at.col;
  out["length"] = at.length;
  return out;
}

llvm::json::Object json(const SourceManager &sources, const Diagnostic &diagnostic) {
  llvm::json::Object out = json(sources, diagnostic.location);
  out["severity"] = word(diagnostic.severity);
  out["code"] = codeText(diagnostic.code);
  out["message"] = jsonText(diagnostic.message);
  llvm::json::Array notes;
  for (const Note &note : diagnostic.notes) {
    llvm::json::Object entry = json(sources, note.location);
    entry["message"] = jsonText(note.message);
    notes.push_back(std::move(entry));
  }
  out["notes"] = std::move(notes);
  if (std::string help = getHelp(sources, diagnostic); !help.empty())
    out["help"] = jsonText(help);
  if (diagnostic.fixIt) {
    llvm::json::Object fix = json(sources, diagnostic.fixIt->location);
    fix["replacement"] = jsonText(diagnostic.fixIt->replacement);
    out["fix"] = std::move(fix);
  }
  return out;
}

} // namespace

std::string getHelp(const SourceManager &sources, const Diagnostic &diagnostic) {
  if (!diagnostic.remedy.empty() || !diagnostic.fixIt)
    return diagnostic.remedy;
  const FixIt &fix = *diagnostic.fixIt;
  if (fix.location.length == 0)
    return "insert `" + fix.replacement + "`";
  std::string old(sources.text(fix.location));
  if (fix.replacement.empty())
    return "remove `" + old + "`";
  return "write `" + fix.replacement + "` instead of `" + old + "`";
}

void DiagnosticEngine::print(std::ostream &os, ColorMode mode) const {
  Palette colors(wantsColor(os, mode));
  for (const Diagnostic &diagnostic : diagnostics) {
    printLine(os, colors, sources, diagnostic.location, diagnostic.severity, diagnostic.message,
              codeText(diagnostic.code));
    for (const Note &note : diagnostic.notes)
      printLine(os, colors, sources, note.location, Severity::Note, note.message, "");
    if (std::string help = getHelp(sources, diagnostic); !help.empty())
      os << colors.cyan << "help: " << colors.reset << printable(help) << '\n';
  }
}

void DiagnosticEngine::printJson(std::ostream &os) const {
  for (const Diagnostic &diagnostic : diagnostics) {
    std::string line;
    llvm::raw_string_ostream(line) << llvm::json::Value(json(sources, diagnostic));
    os << line << '\n';
  }
}

void DiagnosticEngine::printSummary(std::ostream &os) const {
  if (errors)
    os << counted(errors, "error");
  if (warnings)
    os << (errors ? ", " : "") << counted(warnings, "warning");
  if (hidden)
    os << " (" << hidden << " not shown)";
  if (errors || warnings)
    os << '\n';
}

} // namespace titan
