#include "compiler/diagnostics/ExpectedDiagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

namespace titan {
namespace {

struct Expectation {
  Location comment;
  std::string kind; ///< error, warning, note, help
  std::string text; ///< a part of the message
  bool anywhere = false;
  uint32_t line = 0;    ///< in the file of the comment
  uint32_t column = 0;  ///< 0: any
  unsigned missing = 1; ///< diagnostics that are expected and not yet found
};

/// One printed line of a diagnostic that an expectation can match.
struct Finding {
  llvm::StringRef kind;
  Location location;
  std::string message;
};

/// The comment of a line: the text from the first `#` outside of a string literal.
llvm::StringRef findComment(llvm::StringRef line) {
  bool inString = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (inString && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      inString = !inString;
    else if (line[i] == '#' && !inString)
      return line.drop_front(i);
  }
  return {};
}

class ExpectationReader {
public:
  explicit ExpectationReader(DiagnosticEngine &mismatches) : mismatches(mismatches) {}

  std::vector<Expectation> readAll();

private:
  void readLine(FileId file, uint32_t line);
  Expectation build(Location comment, llvm::ArrayRef<llvm::StringRef> groups) const;

  DiagnosticEngine &mismatches;
  std::vector<Expectation> expectations;
};

} // namespace

std::vector<Expectation> ExpectationReader::readAll() {
  const SourceManager &sources = mismatches.sourceManager();
  for (uint32_t file = 0; file < sources.bufferCount(); ++file)
    for (uint32_t line = 1; line <= sources.lineCount(FileId(file)); ++line)
      readLine(FileId(file), line);
  return std::move(expectations);
}

void ExpectationReader::readLine(FileId file, uint32_t line) {
  static const llvm::Regex form("^expected-(error|warning|note|help)"
                                "(@([*]|[-+]?[0-9]+)?(:([0-9]+))?)? *([0-9]+)? *");
  const std::string_view text = mismatches.sourceManager().line(file, line);
  llvm::StringRef rest = findComment(llvm::StringRef(text.data(), text.size()));
  while (true) {
    rest = rest.substr(rest.find("expected-"));
    if (rest.empty())
      return;
    Location comment{file, line, static_cast<uint32_t>(rest.data() - text.data() + 1), 9};
    llvm::SmallVector<llvm::StringRef> groups;
    llvm::StringRef after;
    size_t end = llvm::StringRef::npos;
    if (form.match(rest, &groups)) {
      after = rest.drop_front(groups[0].size());
      end = after.starts_with("{{") ? after.find("}}") : llvm::StringRef::npos;
    }
    if (end == llvm::StringRef::npos) {
      mismatches.report(Code::MalformedExpectation, comment, "an expectation is malformed")
          .help("write `expected-error@+1 {{a part of the message}}`");
      return;
    }
    expectations.push_back(build(comment, groups));
    expectations.back().text = after.slice(2, end).str();
    rest = after.drop_front(end + 2);
  }
}

Expectation ExpectationReader::build(Location comment,
                                     llvm::ArrayRef<llvm::StringRef> groups) const {
  Expectation expectation{comment, groups[1].str(), {}};
  llvm::StringRef where = groups[3];
  int64_t number = 0;
  expectation.anywhere = where == "*";
  llvm::StringRef digits = where.starts_with("+") ? where.drop_front() : where;
  const bool isRelative = where.empty() || where.starts_with("+") || where.starts_with("-");
  if (!expectation.anywhere && !digits.empty())
    digits.getAsInteger(10, number);
  expectation.line = static_cast<uint32_t>(number + (isRelative ? comment.line : 0));
  groups[5].getAsInteger(10, expectation.column);
  groups[6].getAsInteger(10, expectation.missing);
  return expectation;
}

static std::vector<Finding> findAll(const DiagnosticEngine &reported) {
  std::vector<Finding> findings;
  for (const Diagnostic &diagnostic : reported.all()) {
    findings.push_back({diagnostic.severity == Severity::Error ? "error" : "warning",
                        diagnostic.location,
                        diagnostic.message + " [" + codeText(diagnostic.code) + "]"});
    for (const Note &note : diagnostic.notes)
      findings.push_back({"note", note.location, note.message});
    if (std::string help = getHelp(reported.sourceManager(), diagnostic); !help.empty())
      findings.push_back({"help", diagnostic.location, help});
  }
  return findings;
}

static bool matches(const Expectation &expectation, const Finding &finding) {
  if (!expectation.missing || expectation.kind != finding.kind ||
      finding.message.find(expectation.text) == std::string::npos)
    return false;
  if (expectation.anywhere)
    return true;
  return finding.location.file == expectation.comment.file &&
         finding.location.line == expectation.line &&
         (!expectation.column || finding.location.col == expectation.column);
}

void verifyExpectedDiagnostics(const DiagnosticEngine &reported, DiagnosticEngine &mismatches) {
  std::vector<Expectation> expectations = ExpectationReader(mismatches).readAll();
  for (const Finding &finding : findAll(reported)) {
    auto expectation = llvm::find_if(
        expectations, [&](const Expectation &candidate) { return matches(candidate, finding); });
    if (expectation != expectations.end())
      --expectation->missing;
    else
      mismatches.report(Code::UnexpectedDiagnostic, finding.location,
                        "unexpected " + finding.kind.str() + ": " + finding.message);
  }
  for (const Expectation &expectation : expectations)
    if (expectation.missing)
      mismatches.report(Code::MissingDiagnostic, expectation.comment,
                        "expected " + expectation.kind + " was not reported: " + expectation.text);
  mismatches.sort();
}

} // namespace titan
