// Describes in words what the grammar accepts at a location.
//
// The generated parser knows only part of this: when it fails, it has already excluded optional
// elements before the token. This code runs the grammar's automaton again over the tokens of the
// failed statement, as a nondeterministic machine with an explicit call stack. If it would enter a
// rule with a name ("a dimension name"), the name represents all tokens that can begin the rule.
#pragma once

#include "antlr4-runtime.h"

#include <set>
#include <string>
#include <vector>

namespace titan::syntax {

/// Rules (by index) and token types that may come next.
struct Expectation {
  std::set<size_t> rules;
  std::set<size_t> tokens;

  bool expectsName() const;
  /// "a name", "`)`", "the end of the line", ... in the order of usefulness. Operators and brackets
  /// that could continue an expression are omitted if other tokens remain.
  std::vector<std::string> words() const;
};

/// The words after `stores` of an axis: params, grads, optimizer.
const std::vector<std::string> &storedKinds();

/// Runs the automaton from the start of `context` over `consumed`, the types of all tokens up to
/// the failed one.
Expectation expectationAfter(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                             const std::vector<size_t> &consumed);

/// What the automaton accepts in `state`, a state of the rule of `context`.
Expectation expectationAt(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                          size_t state);

} // namespace titan::syntax
