// The data of the formatter: tokens and comments with their layout decisions. Each step of the
// formatter adds decisions; other code does not use them.
#pragma once

#include "compiler/syntax/Token.h"

#include <string>

namespace titan::syntax {

/// The content of an open bracket.
enum class Bracket { Paren, Body, Settings, Axes, Equations };

struct Item {
  Token token; // `partner` is an index of items here
  std::string_view text;
  size_t newLines = 0; // line ends before it in the source

  // By analyse().
  bool isComment = false;
  bool startsEntry = false;       // first token of a statement, setting, axis or declaration
  bool continues = false;         // inside an entry; for a comment, whether the next token is
  Bracket inside = Bracket::Body; // the innermost bracket around it

  // By decideBreaks(), decideSpaces(), align() and wrap().
  bool breakBefore = false;
  bool blankBefore = false;
  size_t spaces = 0; // before it, if no line begins with it
};

using Items = std::vector<Item>;

/// A bracket of any kind.
bool isOpener(const Item &item);
bool isCloser(const Item &item);

/// The tokens of a valid program. Line ends become counts, and redundant `;` are dropped.
Items analyse(std::string_view source);
void decideBreaks(Items &items);
void decideSpaces(Items &items);
/// Widens spaces to align `=` and `~` of neighbouring entries, and trailing comments.
void align(Items &items);
/// Breaks long lines. Returns true if there were any; the items must then be analysed again.
bool wrap(Items &items);
/// The text; `columns` receives the start column of each item.
std::string print(const Items &items, std::vector<size_t> *columns = nullptr);

} // namespace titan::syntax
