#include "compiler/diagnostics/Diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace titan {

const std::vector<CodeInfo> &allCodes() {
  static const std::vector<CodeInfo> codes = {
#define TITAN_DIAGNOSTIC(number, name, severity, title, explanation)                               \
  {Code::name, Severity::severity, #name, title, explanation},
#include "compiler/diagnostics/Codes.def"
  };
  return codes;
}

const CodeInfo &codeInfo(Code code) {
  const std::vector<CodeInfo> &codes = allCodes();
  return *std::find_if(codes.begin(), codes.end(),
                       [&](const CodeInfo &info) { return info.code == code; });
}

const CodeInfo *findCode(std::string_view text) {
  for (const CodeInfo &info : allCodes())
    if (codeText(info.code) == text)
      return &info;
  return nullptr;
}

std::string codeText(Code code) {
  char text[8];
  std::snprintf(text, sizeof text, "T%04u", static_cast<unsigned>(code));
  return text;
}

Diagnostic &Diagnostic::note(Location at, std::string text) {
  notes.push_back({at, std::move(text)});
  return *this;
}

Diagnostic &Diagnostic::help(std::string text) {
  remedy = std::move(text);
  return *this;
}

Diagnostic &Diagnostic::fix(Location at, std::string replacement) {
  fixIt = FixIt{at, std::move(replacement)};
  return *this;
}

Diagnostic &DiagnosticEngine::report(Code code, Location location, std::string message) {
  Severity severity = codeInfo(code).severity;
  if (severity == Severity::Warning && warningsAsErrors)
    severity = Severity::Error;
  Diagnostic made{code, severity, location, std::move(message), {}, {}, {}};
  reports += severity == Severity::Error;
  bool repeated =
      location.isValid() &&
      std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic &other) {
        return other.code == code && other.location == location && other.message == made.message;
      });
  if (repeated) {
    dropped = std::move(made);
    return *dropped;
  }
  if (severity == Severity::Error)
    ++errors;
  else if (severity == Severity::Warning)
    ++warnings;
  if (errors > errorLimit || diagnostics.size() >= 10 * errorLimit) {
    ++hidden;
    dropped = std::move(made);
    return *dropped;
  }
  diagnostics.push_back(std::move(made));
  return diagnostics.back();
}

void DiagnosticEngine::sort(size_t first) {
  auto key = [](const Diagnostic &d) {
    return std::make_tuple(d.location.file, d.location.line, d.location.col);
  };
  std::stable_sort(diagnostics.begin() + static_cast<ptrdiff_t>(first), diagnostics.end(),
                   [&](const Diagnostic &a, const Diagnostic &b) { return key(a) < key(b); });
}

} // namespace titan
