// The third step of the formatter: breaks long lines after a comma or an operator, at the
// outermost bracket that leaves the line well filled. A long index of a stored tensor gets
// separate lines. Lines without a break position stay long.
#include "compiler/syntax/FormatItem.h"

#include "TitanLexer.h"

namespace titan::syntax {
namespace {

using Lex = TitanLexer;
constexpr size_t maxWidth = 100;

/// A binary operator: the next line continues its expression.
bool isJoining(const Items &items, size_t at) {
  const Token &t = items[at].token;
  bool unary = t.is(Lex::MINUS) && items[at + 1].spaces == 0;
  return !unary &&
         t.isOneOf(Lex::PLUS, Lex::MINUS, Lex::STAR, Lex::SLASH, Lex::PERCENT, Lex::AT, Lex::EQ,
                   Lex::NE, Lex::LE, Lex::GE, Lex::LT, Lex::GT, Lex::AND, Lex::OR);
}

bool mayBreak(const Items &items, size_t at) {
  const Item &item = items[at], &previous = items[at - 1];
  if (item.isComment || previous.isComment || isCloser(item))
    return false;
  if (item.startsEntry)
    return previous.token.isOneOf(Lex::COMMA, Lex::SEMI);
  // A keyword that begins a line may begin a statement.
  bool plain = !isKeyword(item.token.type) ||
               item.token.isOneOf(Lex::OVER, Lex::ALONG, Lex::TRUE, Lex::FALSE, Lex::NONE);
  return plain && (previous.token.is(Lex::COMMA) || isJoining(items, at - 1));
}

/// Breaks one line, items [first, end), as often as necessary.
class LineWrapper {
public:
  LineWrapper(Items &items, const std::vector<size_t> &columns, size_t first, size_t end)
      : items(items), columns(columns), end(end), begin(first), lineIndent(columns[first]) {}

  bool run() {
    bool broke = hangIndex();
    if (broke)
      return true; // the lines inside the brackets are broken in the next round
    while (getEnd(end - 1) > maxWidth) {
      size_t at = choose();
      if (at == 0)
        break;
      breakBefore(at);
      broke = true;
    }
    return broke;
  }

private:
  /// Puts the index of a stored tensor, `"name"[...]`, on separate lines if the entry is long:
  /// names are long, and little width is left after one. Returns whether it does so.
  bool hangIndex() {
    if (items[begin].inside != Bracket::Equations || getEnd(end - 1) <= maxWidth)
      return false;
    for (size_t i = begin + 1; i + 1 < end; ++i) {
      const Token &token = items[i].token;
      if (!token.is(Lex::LBRACKET) || !items[i - 1].token.is(Lex::STRING) || token.partner >= end)
        continue;
      items[i + 1].breakBefore = items[token.partner].breakBefore = true;
      return true;
    }
    return false;
  }

  size_t getColumn(size_t i) const { return columns[i] + added - removed; }
  size_t getEnd(size_t i) const { return getColumn(i) + items[i].text.size(); }

  /// The break position. Among those that leave the line half full: the least nested, a comma
  /// before an operator, the last of equals. Otherwise the last that fits, or the first. 0: none.
  size_t choose() const {
    size_t best = 0, fits = 0, bestCost = SIZE_MAX, depth = nesting;
    for (size_t i = begin + 1; i < end; ++i) {
      depth += isOpener(items[i - 1]);
      depth -= isCloser(items[i - 1]);
      bool over = getEnd(i - 1) > maxWidth;
      if (over && (best || fits))
        break;
      if (!mayBreak(items, i))
        continue;
      if (over)
        return i;
      fits = i;
      size_t cost = 2 * depth + isJoining(items, i - 1);
      if (getColumn(i) > maxWidth / 2 && cost <= bestCost) {
        best = i;
        bestCost = cost;
      }
    }
    return best ? best : fits;
  }

  void breakBefore(size_t at) {
    for (size_t i = begin; i < at; ++i) {
      if (isOpener(items[i]))
        open.push_back(getColumn(i) + 1);
      else if (isCloser(items[i]) && !open.empty())
        open.pop_back();
    }
    nesting = open.size();
    items[at].breakBefore = true;
    // The estimated indentation of the new line; braces and alignment can change it.
    size_t indent = open.empty() ? lineIndent + 2 : open.back();
    added = indent;
    removed = columns[at];
    begin = at;
  }

  Items &items;
  const std::vector<size_t> &columns;
  size_t end, begin, lineIndent;
  size_t added = 0, removed = 0; // columns added to and removed from the rest
  size_t nesting = 0;
  std::vector<size_t> open; // columns inside the brackets that the line opened
};

} // namespace

bool wrap(Items &items) {
  std::vector<size_t> columns;
  print(items, &columns);
  bool broke = false;
  for (size_t first = 0, next; first < items.size(); first = next) {
    next = first + 1;
    while (next < items.size() && !items[next].breakBefore)
      ++next;
    size_t end = items[next - 1].isComment ? next - 1 : next;
    if (end > first + 1)
      broke |= LineWrapper(items, columns, first, end).run();
  }
  return broke;
}

} // namespace titan::syntax
