// The first half of the formatter: classification of tokens, and line breaks.
#include "compiler/syntax/FormatItem.h"
#include "compiler/syntax/PrepareTokens.h"

#include "TitanLexer.h"

namespace titan::syntax {

using Lex = TitanLexer;

bool isOpener(const Item &item) {
  return item.token.isOneOf(Lex::LPAREN, Lex::LBRACKET, Lex::LBRACE);
}

bool isCloser(const Item &item) {
  return item.token.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
}

namespace {

Items collect(std::string_view source) {
  Items items;
  size_t newLines = 0;
  for (const Token &token : lex(source)) {
    if (token.is(Lex::NEWLINE)) {
      ++newLines;
      continue;
    }
    if (token.is(Token::endOfFile))
      break;
    Item item;
    item.token = token;
    item.isComment = token.is(Lex::COMMENT);
    item.text = token.text(source);
    while (item.isComment && (item.text.back() == ' ' || item.text.back() == '\t'))
      item.text.remove_suffix(1);
    item.newLines = std::exchange(newLines, 0);
    items.push_back(item);
  }
  return items;
}

/// The nearest token that is not a comment, from item `from` on forwards (`direction` 1) or
/// backwards (-1); an end-of-file token past the ends.
Token significant(const Items &items, size_t from, int direction) {
  for (size_t i = from; i < items.size(); i += static_cast<size_t>(direction))
    if (!items[i].isComment)
      return items[i].token;
  return Token();
}

/// Whether a line ends between an item and the previous one, without comments.
bool onNewLine(const Items &items, size_t at) {
  while (!items[at].newLines && at > 0 && items[at - 1].isComment)
    --at;
  return items[at].newLines != 0;
}

/// Whether a `;` is redundant because of an adjacent line end, `{`, `}`, `;`, `stores` or `splits`.
bool isNeedless(const Items &items, size_t at) {
  Token previous = significant(items, at - 1, -1), next = significant(items, at + 1, 1);
  if (at == 0 || previous.isOneOf(Lex::SEMI, Lex::LBRACE, Token::endOfFile) ||
      next.isOneOf(Token::endOfFile, Lex::RBRACE, Lex::SEMI))
    return true;
  size_t nextAt = at + 1;
  while (items[nextAt].isComment)
    ++nextAt;
  Token afterNext = significant(items, nextAt + 1, 1);
  if (next.isOneOf(Lex::STORES, Lex::SPLITS))
    return !afterNext.is(Lex::ASSIGN);
  return onNewLine(items, nextAt) && endsStatement(previous, false, next, afterNext);
}

void dropSemicolons(Items &items) {
  Items remaining;
  size_t newLines = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].token.is(Lex::SEMI) && isNeedless(items, i)) {
      newLines += items[i].newLines;
      continue;
    }
    remaining.push_back(items[i]);
    remaining.back().newLines += std::exchange(newLines, 0);
  }
  items = std::move(remaining);
}

/// The content of braces, from their context: the first token of the entry, and the last one before
/// the braces.
Bracket braceKind(Bracket outside, bool atTop, const Token &entry, const Token &previous,
                  bool hasAssign) {
  if (outside == Bracket::Equations)
    return Bracket::Equations;
  if (!atTop && outside != Bracket::Body)
    return Bracket::Settings;
  if (entry.is(Lex::PARALLEL))
    return Bracket::Axes;
  if (entry.isOneOf(Lex::CONFIG, Lex::WEIGHTS))
    return Bracket::Equations;
  bool settings = entry.isOneOf(Lex::TRAIN, Lex::PARAM, Lex::BUFFER, Lex::OPTION) ||
                  (entry.is(Lex::MODEL) && hasAssign) || previous.is(Lex::DATA);
  return settings ? Bracket::Settings : Bracket::Body;
}

/// Whether an item begins a new entry, given the previous item in the same braces.
bool beginsEntry(const Items &items, size_t at, const Token &previous, bool followsDot,
                 Bracket inside) {
  if (inside == Bracket::Paren || isCloser(items[at]))
    return false;
  if (previous.isOneOf(Token::endOfFile, Lex::LBRACE, Lex::SEMI))
    return true;
  if (inside == Bracket::Settings && previous.is(Lex::COMMA))
    return true;
  return onNewLine(items, at) &&
         endsStatement(previous, followsDot, items[at].token, significant(items, at + 1, 1));
}

/// Finds partners, entries and the nesting of items.
void classify(Items &items) {
  struct Open {
    size_t at; // index of the bracket
    Bracket kind;
    Token entry; // first token of the current entry inside it
    bool hasAssign = false;
  };
  std::vector<Open> open = {{SIZE_MAX, Bracket::Body, Token(), false}};
  Token previous;
  bool followsDot = false;
  for (size_t i = 0; i < items.size(); ++i) {
    Item &item = items[i];
    if (!item.isComment && isCloser(item)) {
      item.token.partner = static_cast<uint32_t>(open.back().at);
      items[open.back().at].token.partner = static_cast<uint32_t>(i);
      open.pop_back();
    }
    item.inside = open.back().kind;
    if (item.isComment)
      continue;
    item.startsEntry = beginsEntry(items, i, previous, followsDot, item.inside);
    if (item.startsEntry) {
      open.back().entry = item.token;
      open.back().hasAssign = false;
    }
    open.back().hasAssign |= item.token.is(Lex::ASSIGN);
    if (isOpener(item)) {
      Bracket kind = Bracket::Paren;
      if (item.token.is(Lex::LBRACE))
        kind = braceKind(item.inside, open.size() == 1, open.back().entry, previous,
                         open.back().hasAssign);
      open.push_back({i, kind, Token(), false});
    }
    followsDot = previous.is(Lex::DOT);
    previous = item.token;
  }
}

/// Whether a block is broken between its entries, at a comment or before its `}`.
bool isBroken(const Items &items, size_t opener) {
  size_t closer = items[opener].token.partner;
  for (size_t i = opener + 1; i <= closer; ++i) {
    const Item &item = items[i];
    bool own = i == closer || item.startsEntry || item.isComment;
    if (own && item.newLines)
      return true;
    if (isOpener(item) && i != closer)
      i = item.token.partner; // nested lines break their own brackets
  }
  return false;
}

} // namespace

Items analyse(std::string_view source) {
  Items items = collect(source);
  dropSemicolons(items);
  classify(items);
  bool isContinued = false;
  for (size_t i = items.size(); i-- > 0;) {
    if (!items[i].isComment)
      isContinued = !items[i].startsEntry && !items[i].token.is(Lex::RBRACE);
    items[i].continues = isContinued;
  }
  return items;
}

void decideBreaks(Items &items) {
  std::vector<bool> forced(items.size() + 1, false);
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].token.is(Lex::LBRACE) || !isBroken(items, i))
      continue;
    bool trailing = items[i + 1].isComment && items[i + 1].newLines == 0;
    forced[i + (trailing ? 2 : 1)] = true;
    forced[items[i].token.partner] = true;
  }
  for (size_t i = 1; i < items.size(); ++i) {
    Item &item = items[i];
    const Item &previous = items[i - 1];
    bool movesUp =
        item.token.is(Lex::LBRACE) || (item.token.is(Lex::ELSE) && previous.token.is(Lex::RBRACE));
    item.breakBefore = previous.isComment || forced[i] || (item.newLines && !movesUp);
    item.blankBefore =
        item.breakBefore && item.newLines > 1 && !previous.token.is(Lex::LBRACE) && !isCloser(item);
  }
}

} // namespace titan::syntax
