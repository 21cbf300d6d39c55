// What the grammar would have accepted at a place, said in words.
//
// The generated parser knows this only in part: by the time it fails it has decided against the
// optional parts before the token. So the grammar's automaton is run once more, over the tokens of
// the one statement that failed, as a plain nondeterministic machine with an explicit call stack.
// Where it would enter a rule that has a name of its own ("a dimension name"), that name stands for
// all that the rule could begin with.
#ifndef TITAN_COMPILER_SYNTAX_EXPECTATION_H
#define TITAN_COMPILER_SYNTAX_EXPECTATION_H

#include "antlr4-runtime.h"

#include <set>
#include <string>
#include <vector>

namespace titan::syntax {

/// Rules (by their index) and token types that could come next.
struct Expectation {
  std::set<size_t> rules;
  std::set<size_t> tokens;

  bool expectsName() const;
  /// "a name", "`)`", "the end of the line", ... in the order in which a reader wants them.
  /// Operators and brackets that could continue an expression are left out where anything else
  /// remains.
  std::vector<std::string> words() const;
};

/// What an axis may store.
const std::vector<std::string> &storedKinds();

/// Runs the automaton from the start of `context` over `consumed`, the types of all tokens from
/// there up to the one that failed.
Expectation expectationAfter(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                             const std::vector<size_t> &consumed);

/// What the automaton accepts in a state of a rule invocation.
Expectation expectationAt(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                          size_t state);

} // namespace titan::syntax

#endif
