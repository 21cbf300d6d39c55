// The formatter's view of a program: its tokens and comments with what is decided about each. Every
// step of the formatter fills in more of it; nothing outside the formatter uses it.
#ifndef TITAN_COMPILER_SYNTAX_FORMATITEM_H
#define TITAN_COMPILER_SYNTAX_FORMATITEM_H

#include "compiler/syntax/Token.h"

#include <string>

namespace titan::syntax {

/// What an open bracket contains.
enum class Bracket { Paren, Body, Settings, Axes };

struct Item {
  Token token; // `partner` is an index of items here
  std::string_view text;
  size_t newLines = 0; // line ends before it in the source

  // Filled in by the analysis.
  bool isComment = false;
  bool startsEntry = false;       // first token of a statement, setting, axis or declaration
  bool continues = false;         // goes on with an entry; a comment does what follows it
  Bracket inside = Bracket::Body; // the innermost bracket around it

  // Decided.
  bool breakBefore = false;
  bool blankBefore = false;
  size_t spaces = 0; // before it, where no line begins
};

using Items = std::vector<Item>;

/// A bracket, of whatever kind.
bool isOpener(const Item &item);
bool isCloser(const Item &item);

/// The tokens of a program that parses, line ends turned into counts and needless `;` dropped.
Items analyse(std::string_view source);
void decideBreaks(Items &items);
void decideSpaces(Items &items);
/// Widens spaces so that `=` and `~` of neighbouring entries, and trailing comments, line up.
void align(Items &items);
/// Breaks lines that are too long. True if there were any: the items want to be analysed anew.
bool wrap(Items &items);
/// The text; `columns` receives where each item begins.
std::string print(const Items &items, std::vector<size_t> *columns = nullptr);

} // namespace titan::syntax

#endif
