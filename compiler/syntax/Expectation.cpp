#include "compiler/syntax/Expectation.h"

#include "TitanParser.h"
#include "compiler/syntax/Token.h"

#include <map>
#include <tuple>

namespace titan::syntax {
namespace {

using antlr4::atn::ATNState;
using antlr4::atn::Transition;
using Parser = TitanParser;

/// The words for rules, in the order of messages. Empty words omit the rule.
struct RuleWords {
  size_t rule;
  const char *words;
};
const std::vector<RuleWords> &ruleWords() {
  static const std::vector<RuleWords> table = {
      {Parser::RuleDeclaration,
       "a declaration (`import`, `model`, `block`, `fn`, `optimizer`, `schedule`, `parallel`, "
       "`train`, `config` or `weights`)"},
      {Parser::RuleStatement, "a statement"},
      {Parser::RuleAxis, "an axis `name = degree`"},
      {Parser::RuleOverrideLine, "an axis with what it splits or stores"},
      {Parser::RuleWeightsEntry, "a parameter with its tensor"},
      {Parser::RuleStoredDim, "a dimension"},
      {Parser::RuleStoredFactor, "a dimension"},
      {Parser::RuleSoleWord, "a word"},
      {Parser::RuleSetting, "a setting `key = value`"},
      {Parser::RuleConfigEntry, "an equation `key = value`, `optional`, `ignore` or `training`"},
      {Parser::RuleArm, "an arm `value then result`"},
      {Parser::RuleArgument, "an argument"},
      {Parser::RuleFormal, "a parameter"},
      {Parser::RuleExpr, "an expression"},
      {Parser::RuleIndex, "an index or a range"},
      {Parser::RuleModuleName, "the name of a module"},
      {Parser::RuleModelName, "the name of a model"},
      {Parser::RuleFunctionName, "the name of a function"},
      {Parser::RuleTrainBase, "the name of a model or of a run"},
      {Parser::RuleParallelName, "the name of a `parallel`"},
      {Parser::RuleSectionName, "the name of a `config`"},
      {Parser::RuleConfigKey, "a key of a configuration"},
      {Parser::RuleAxisName, "the name of an axis"},
      {Parser::RuleStoredKind, ""}, // its words are listed one by one
      {Parser::RuleTypeName, "a type such as `int` or `f32`"},
      {Parser::RuleDimsArgument, "a dimension name"},
      {Parser::RuleDimName, "a dimension name"},
      {Parser::RuleNewDims, "a new dimension name"},
      {Parser::RuleNewDim, "a new dimension name"},
      {Parser::RuleHidingWord, "a new dimension name"}, // `new` is rare
      {Parser::RuleNewAxis, "a name"},
      {Parser::RuleNewName, "a name"},
      {Parser::RuleTarget, "a name"},
      {Parser::RuleWord, "a name"},
      {Parser::RuleBody, "`{`"},
      {Parser::RuleSettings, "`{`"},
      {Parser::RuleAxes, "`{`"},
      {Parser::RuleOverrides, "`{`"},
      {Parser::RuleArms, "`{`"},
      {Parser::RuleConfigBody, "`{`"},
      {Parser::RuleFormals, "`(`"},
      {Parser::RuleDimList, "`[`"},
      {Parser::RuleStoredDims, "`[`"},
      {Parser::RuleEntryEnd, "a new line"},
      {Parser::RuleTerminator, "a new line"},
      {Parser::RuleBracket, ""},
      {Parser::RuleArguments, ""},
  };
  return table;
}

bool isNamed(size_t rule) {
  for (const RuleWords &entry : ruleWords())
    if (entry.rule == rule)
      return true;
  return false;
}

/// A nondeterministic machine with a call stack. Stacks are interned, so equal ones are equal ids.
class Machine {
public:
  explicit Machine(const antlr4::atn::ATN &atn) : atn(atn) { stacks.push_back({}); }

  /// Starts in a state, with the callers of `context` on the stack.
  void start(const antlr4::ParserRuleContext &context, ATNState *state) {
    configs = {{state, getStack(&context)}};
  }
  void step(size_t token);
  Expectation expectation();

private:
  struct Frame {
    ATNState *follow = nullptr;
    int precedence = 0; // of the call of the rule
    size_t caller = 0;
    auto key() const { return std::make_tuple(follow, precedence, caller); }
  };
  struct Config {
    ATNState *state;
    size_t stack;
    bool operator<(const Config &o) const {
      return std::tie(state, stack) < std::tie(o.state, o.stack);
    }
  };

  size_t push(Frame frame);
  size_t getStack(const antlr4::RuleContext *context);
  template <typename OnToken> void close(bool stopAtNamed, Expectation *found, OnToken onToken);

  const antlr4::atn::ATN &atn;
  std::vector<Frame> stacks; // 0 is the empty one
  std::map<std::tuple<ATNState *, int, size_t>, size_t> interned;
  std::set<Config> configs;
};

size_t Machine::push(Frame frame) {
  auto [at, isNew] = interned.try_emplace(frame.key(), stacks.size());
  if (isNew)
    stacks.push_back(frame);
  return at->second;
}

size_t Machine::getStack(const antlr4::RuleContext *context) {
  auto *parent = dynamic_cast<const antlr4::RuleContext *>(context->parent);
  if (!parent || context->invokingState >= atn.states.size())
    return 0;
  auto *call = dynamic_cast<const antlr4::atn::RuleTransition *>(
      atn.states[context->invokingState]->transitions[0]);
  return call ? push({call->followState, call->precedence, getStack(parent)}) : 0;
}

/// Follows all transitions that consume no token, and calls `onToken` with each other one. With
/// `stopAtNamed`, adds rules with words to `found` instead of entering them.
template <typename OnToken>
void Machine::close(bool stopAtNamed, Expectation *found, OnToken onToken) {
  std::set<Config> seen = configs;
  std::vector<Config> pending(configs.begin(), configs.end());
  auto add = [&](ATNState *state, size_t stack) {
    if (seen.insert({state, stack}).second)
      pending.push_back({state, stack});
  };
  while (!pending.empty()) {
    Config at = pending.back();
    pending.pop_back();
    if (at.state->getStateType() == ATNState::RULE_STOP) {
      if (at.stack != 0)
        add(stacks[at.stack].follow, stacks[at.stack].caller);
      continue;
    }
    for (Transition *transition : at.state->transitions) {
      if (auto *call = dynamic_cast<antlr4::atn::RuleTransition *>(transition)) {
        if (stopAtNamed && isNamed(call->ruleIndex))
          found->rules.insert(call->ruleIndex);
        else
          add(call->target, push({call->followState, call->precedence, at.stack}));
      } else if (auto *guard =
                     dynamic_cast<antlr4::atn::PrecedencePredicateTransition *>(transition)) {
        if (guard->precedence >= stacks[at.stack].precedence)
          add(guard->target, at.stack);
      } else if (transition->isEpsilon()) {
        add(transition->target, at.stack);
      } else {
        onToken(*transition, at.stack);
      }
    }
  }
}

void Machine::step(size_t token) {
  std::set<Config> next;
  close(/*stopAtNamed=*/false, nullptr, [&](const Transition &transition, size_t stack) {
    if (transition.matches(token, antlr4::Token::MIN_USER_TOKEN_TYPE, Parser::STRAY))
      next.insert({transition.target, stack});
  });
  configs = std::move(next);
}

Expectation Machine::expectation() {
  Expectation found;
  close(/*stopAtNamed=*/true, &found, [&](const Transition &transition, size_t) {
    for (ssize_t token : transition.label().toList())
      found.tokens.insert(static_cast<size_t>(token));
  });
  return found;
}

bool continuesExpression(size_t token) {
  switch (token) {
  case Parser::POW:
  case Parser::EQ:
  case Parser::NE:
  case Parser::LE:
  case Parser::GE:
  case Parser::LT:
  case Parser::GT:
  case Parser::PLUS:
  case Parser::MINUS:
  case Parser::STAR:
  case Parser::SLASH:
  case Parser::PERCENT:
  case Parser::AT:
  case Parser::AND:
  case Parser::OR:
  case Parser::DOT:
  case Parser::AS:
  case Parser::ALONG:
  case Parser::RANGE:
    return true;
  default:
    return false;
  }
}

std::string tokenWords(size_t token) {
  switch (token) {
  case antlr4::Token::EOF:
    return "the end of the file";
  case Parser::NEWLINE:
    return "a new line";
  case Parser::IDENT:
    return "a name";
  case Parser::STRING:
    return "a string";
  default:
    return "`" + std::string(fixedSpelling(static_cast<uint32_t>(token))) + "`";
  }
}

} // namespace

const std::vector<std::string> &storedKinds() {
  static const std::vector<std::string> kinds = {"params", "grads", "optimizer"};
  return kinds;
}

bool Expectation::expectsName() const {
  static const size_t naming[] = {
      Parser::RuleExpr,         Parser::RuleArgument,     Parser::RuleFormal,
      Parser::RuleDimsArgument, Parser::RuleDimName,      Parser::RuleNewDims,
      Parser::RuleNewDim,       Parser::RuleNewAxis,      Parser::RuleNewName,
      Parser::RuleModelName,    Parser::RuleFunctionName, Parser::RuleIndex,
      Parser::RuleTrainBase,    Parser::RuleTypeName,     Parser::RuleParallelName,
      Parser::RuleStatement,    Parser::RuleAxis,         Parser::RuleOverrideLine,
      Parser::RuleModuleName,   Parser::RuleSectionName,  Parser::RuleConfigKey,
      Parser::RuleConfigEntry};
  for (size_t rule : naming)
    if (rules.count(rule))
      return true;
  return false;
}

std::vector<std::string> Expectation::words() const {
  std::vector<std::string> out;
  auto add = [&](const std::string &words) {
    if (!words.empty() && std::find(out.begin(), out.end(), words) == out.end())
      out.push_back(words);
  };
  // List `=` first, because a definition needs it. In a call `=` could follow any word, but is
  // unlikely.
  bool defines = tokens.count(Parser::ASSIGN) && !tokens.count(Parser::RPAREN);
  if (defines)
    add(tokenWords(Parser::ASSIGN));
  for (size_t token : {Parser::ARROW, Parser::THEN, Parser::ELSE})
    if (tokens.count(token))
      add(tokenWords(token));
  bool ends = rules.count(Parser::RuleTerminator) || tokens.count(antlr4::Token::EOF);
  if (tokens.count(Parser::PLUS) && ends)
    add("an operator");
  if (rules.count(Parser::RuleEntryEnd) || (defines && ends && tokens.count(Parser::COMMA)))
    add(tokenWords(Parser::COMMA));
  for (const RuleWords &entry : ruleWords())
    if (rules.count(entry.rule))
      add(entry.words);
  if (rules.count(Parser::RuleStoredKind))
    for (const std::string &kind : storedKinds())
      add("`" + kind + "`");
  for (size_t token : tokens) {
    bool minor = continuesExpression(token) || token == antlr4::Token::EOF ||
                 token == Parser::ASSIGN ||
                 (defines && (token == Parser::COMMA || token == Parser::STRING));
    if (!minor)
      add(tokenWords(token));
  }
  if (out.empty())
    for (size_t token : tokens)
      add(tokenWords(token));
  return out;
}

Expectation expectationAfter(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                             const std::vector<size_t> &consumed) {
  Machine machine(atn);
  machine.start(context, atn.ruleToStartState[context.getRuleIndex()]);
  for (size_t token : consumed)
    machine.step(token);
  return machine.expectation();
}

Expectation expectationAt(const antlr4::atn::ATN &atn, const antlr4::ParserRuleContext &context,
                          size_t state) {
  Machine machine(atn);
  machine.start(context, atn.states[state]);
  return machine.expectation();
}

} // namespace titan::syntax
