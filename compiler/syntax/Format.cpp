// The second half of the formatter: spaces, alignment and the output text.
#include "compiler/syntax/Format.h"

#include "TitanLexer.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/FormatItem.h"

#include <algorithm>
#include <map>

namespace titan::syntax {
namespace {

using Lex = TitanLexer;
constexpr size_t indentWidth = 2;
constexpr int maxRounds = 100; // of breaking long lines; two or three are usual

/// Whether the item ends an operand, so that a following `-` subtracts and a following `(` calls.
bool endsOperand(const Items &items, size_t at) {
  const Token &t = items[at].token;
  if (t.isOneOf(Lex::IDENT, Lex::INT, Lex::FLOAT, Lex::STRING, Lex::TRUE, Lex::FALSE, Lex::NONE,
                Lex::RPAREN, Lex::RBRACKET))
    return true;
  return isKeyword(t.type) && at > 0 && items[at - 1].token.is(Lex::DOT);
}

bool isUnaryMinus(const Items &items, size_t at) {
  return items[at].token.is(Lex::MINUS) && (at == 0 || !endsOperand(items, at - 1));
}

size_t spacesBefore(const Items &items, size_t at) {
  const Token &previous = items[at - 1].token, &next = items[at].token;
  if (items[at].isComment)
    return 2;
  if (previous.is(Lex::LBRACE) && next.is(Lex::RBRACE))
    return 0;
  if (next.isOneOf(Lex::COMMA, Lex::SEMI, Lex::COLON, Lex::DOT, Lex::RPAREN, Lex::RBRACKET))
    return 0;
  if (previous.is(Lex::RANGE))
    return next.is(Lex::AS) ? 1 : 0;
  if (previous.isOneOf(Lex::LPAREN, Lex::LBRACKET, Lex::DOT))
    return 0;
  if (next.is(Lex::RANGE))
    return previous.is(Lex::COLON) ? 1 : 0;
  if (next.isOneOf(Lex::LPAREN, Lex::LBRACKET) && endsOperand(items, at - 1))
    return 0;
  return isUnaryMinus(items, at - 1) ? 0 : 1;
}

/// Whether an entry is none of `name = ...`: `copy "a" = "b"`, `split head as (pair, half)`.
bool beginsWithWord(const Items &items, size_t at) {
  return at + 1 < items.size() && items[at + 1].token.isOneOf(Lex::STRING, Lex::IDENT);
}

/// Neighbouring entries of equal class are aligned; an empty class is not.
std::string alignmentClass(const Items &items, size_t at) {
  const Item &item = items[at];
  if (item.inside == Bracket::Settings)
    return "setting";
  if (item.inside == Bracket::Axes)
    return "axis";
  if (item.inside == Bracket::Equations)
    return item.token.isOneOf(Lex::OPTIONAL, Lex::IGNORE, Lex::TRAINING) ||
                   beginsWithWord(items, at)
               ? ""
               : "equation";
  if (item.token.isOneOf(Lex::PARAM, Lex::BUFFER))
    return "param";
  if (item.token.is(Lex::UPDATE))
    return "update";
  if (item.token.is(Lex::OPTION))
    return "option";
  bool isAssigned = at + 1 < items.size() && items[at + 1].token.is(Lex::ASSIGN);
  if (item.token.is(Lex::LOSS) || (item.text == "loss" && isAssigned))
    return "loss";
  if (item.token.is(Lex::METRIC))
    return "metric";
  bool typed = at + 2 < items.size() && items[at + 2].token.isOneOf(Lex::LBRACKET, Lex::COLON);
  return item.token.is(Lex::LET) && typed ? "let" : "";
}

struct Entry {
  size_t first, last; // indices of items
  size_t sign = 0;    // the `=` or `~` to line up; 0 without one on the first line
  size_t width = 0;   // of the text before it
};

/// The position of the `=` of an entry, and the width before it.
Entry measure(const Items &items, size_t first) {
  Entry entry{first, first};
  size_t depth = 0, width = 0;
  for (size_t i = first; i < items.size(); ++i) {
    const Item &item = items[i];
    bool ownLine = item.isComment && item.breakBefore;
    if (i != first && depth == 0 && (item.startsEntry || ownLine))
      break;
    bool closes = item.token.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
    if (closes && depth-- == 0)
      break;
    if (i != first && item.breakBefore)
      width = SIZE_MAX; // the sign is not on the first line
    if (depth == 0 && !entry.sign && width != SIZE_MAX &&
        item.token.isOneOf(Lex::ASSIGN, Lex::TILDE)) {
      entry.sign = i;
      entry.width = width;
    }
    if (width != SIZE_MAX)
      width += (i == first ? 0 : item.spaces) + item.text.size();
    depth += item.token.isOneOf(Lex::LPAREN, Lex::LBRACKET, Lex::LBRACE);
    entry.last = i;
  }
  return entry;
}

void alignRun(Items &items, const std::vector<Entry> &run) {
  size_t widest = 0;
  for (const Entry &entry : run)
    widest = std::max(widest, entry.width);
  for (const Entry &entry : run)
    if (entry.sign)
      items[entry.sign].spaces += widest - entry.width;
}

/// Aligns the entries of one pair of braces. `first` is the item after the `{`.
void alignEntries(Items &items, size_t first) {
  std::vector<Entry> run;
  std::string runClass;
  size_t i = first;
  while (i < items.size() && !items[i].token.is(Lex::RBRACE)) {
    if (!items[i].startsEntry) { // a comment or a separator
      bool ends = items[i].isComment && items[i].breakBefore;
      if (ends) {
        alignRun(items, run);
        run.clear();
      }
      ++i;
      continue;
    }
    Entry entry = measure(items, i);
    size_t next = entry.last + 1;
    bool alone = (items[i].breakBefore || i == 0) &&
                 (next >= items.size() || items[next].breakBefore || items[next].isComment);
    std::string kind = alone ? alignmentClass(items, i) : "";
    bool joins = !kind.empty() && kind == runClass && !items[i].blankBefore;
    if (!joins) {
      alignRun(items, run);
      run.clear();
    }
    runClass = kind;
    bool passes = !entry.sign && kind == "setting"; // `precision { ... }` does not end a run
    if (!kind.empty() && (entry.sign || passes))
      run.push_back(entry);
    i = next;
  }
  alignRun(items, run);
}

/// The width of a line before its comment; 0 if the comment is not aligned with its neighbours:
/// other indentation, or a comment alone.
size_t widthBeforeComment(const Items &items, size_t first, size_t comment) {
  bool plain = items[first].startsEntry && comment > first && items[comment].isComment &&
               !items[comment - 1].token.is(Lex::LBRACE);
  size_t width = 0;
  for (size_t i = first; plain && i < comment; ++i)
    width += (i == first ? 0 : items[i].spaces) + items[i].text.size();
  return width;
}

/// Aligns trailing comments of consecutive lines.
void alignComments(Items &items) {
  std::vector<std::pair<size_t, size_t>> run; // comment, width before it
  auto flush = [&] {
    size_t widest = 0;
    for (const auto &[comment, width] : run)
      widest = std::max(widest, width);
    for (const auto &[comment, width] : run)
      items[comment].spaces += widest - width;
    run.clear();
  };
  for (size_t first = 0, next; first < items.size(); first = next) {
    next = first + 1;
    while (next < items.size() && !items[next].breakBefore)
      ++next;
    size_t width = widthBeforeComment(items, first, next - 1);
    if (!width || items[first].blankBefore)
      flush();
    if (width)
      run.emplace_back(next - 1, width);
  }
  flush();
}

/// Writes the items. Indentation is computed here, since bracket columns depend on alignment.
class Printer {
public:
  explicit Printer(const Items &items) : items(items) {}

  std::string print(std::vector<size_t> *columns) {
    for (size_t i = 0; i < items.size(); ++i) {
      startLine(i);
      if (columns)
        columns->push_back(column());
      write(i);
    }
    if (!out.empty())
      out += '\n';
    return std::move(out);
  }

private:
  struct Open {
    size_t inner; // indentation of lines inside
    size_t close; // and of a line that begins with the closing bracket
  };

  size_t column() const { return out.size() - lineBegin; }

  void startLine(size_t i) {
    const Item &item = items[i];
    if (i != 0 && !item.breakBefore) {
      out.append(item.spaces, ' ');
      return;
    }
    if (i != 0)
      out += item.blankBefore ? "\n\n" : "\n";
    lineBegin = out.size();
    bool closes = item.token.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
    lineIndent = open.empty() ? 0 : closes ? open.back().close : open.back().inner;
    if (item.inside != Bracket::Paren && !closes && item.continues)
      lineIndent += indentWidth;
    out.append(lineIndent, ' ');
  }

  void write(size_t i) {
    const Item &item = items[i];
    if (item.startsEntry)
      entryIndent = lineIndent;
    bool closes = item.token.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
    if (closes) {
      if (item.token.is(Lex::RBRACE))
        entryIndent = open.back().close;
      open.pop_back();
    }
    size_t at = column();
    out += item.text;
    bool hangs = i + 1 < items.size() && items[i + 1].breakBefore;
    if (item.token.is(Lex::LBRACE))
      open.push_back({entryIndent + indentWidth, entryIndent});
    else if (item.token.isOneOf(Lex::LPAREN, Lex::LBRACKET))
      open.push_back(hangs ? Open{lineIndent + indentWidth, lineIndent} : Open{at + 1, at});
  }

  const Items &items;
  std::string out;
  std::vector<Open> open;
  size_t lineBegin = 0, lineIndent = 0, entryIndent = 0;
};

} // namespace

void decideSpaces(Items &items) {
  for (size_t i = 1; i < items.size(); ++i)
    if (!items[i].breakBefore)
      items[i].spaces = spacesBefore(items, i);
}

void align(Items &items) {
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].token.is(Lex::LBRACE))
      alignEntries(items, i + 1);
  alignComments(items);
}

std::string print(const Items &items, std::vector<size_t> *columns) {
  return Printer(items).print(columns);
}

std::optional<std::string> format(const SourceManager &sources, FileId file,
                                  DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorCount();
  parse(sources, file, diags);
  if (diags.errorCount() != errorsBefore)
    return std::nullopt;
  std::string text(sources.text(file));
  for (int round = 0; round < maxRounds; ++round) {
    Items items = analyse(text);
    decideBreaks(items);
    decideSpaces(items);
    align(items);
    bool again = wrap(items);
    text = print(items);
    if (!again)
      break;
  }
  return text;
}

} // namespace titan::syntax
