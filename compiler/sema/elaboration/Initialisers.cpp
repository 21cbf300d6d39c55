#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"

#include <cmath>

namespace titan::sema {

using namespace syntax;

namespace {

struct Distribution {
  Initialiser::Kind kind;
  size_t maxNumbers; // positional
};

const std::map<std::string, Distribution> &distributions() {
  static const std::map<std::string, Distribution> table = {
      {"normal", {Initialiser::Kind::Normal, 1}},
      {"truncated_normal", {Initialiser::Kind::TruncatedNormal, 2}},
      {"uniform", {Initialiser::Kind::Uniform, 1}}};
  return table;
}

/// The Titan form of an initialisation scheme of PyTorch; empty for other names.
std::string schemeHelp(const std::string &name) {
  auto begins = [&](const char *start) { return name.rfind(start, 0) == 0; };
  const bool isUniform = name.find("uniform") != std::string::npos;
  if (begins("kaiming") || begins("he_") || begins("lecun"))
    return isUniform ? "write `~ uniform(sqrt(3) * kaiming(embed))`, with `import std.init`"
                     : "write `~ normal(kaiming(embed))`, with `import std.init`";
  if (begins("xavier") || begins("glorot"))
    return isUniform ? "write `~ uniform(xavier_bound(embed, ffn))`, with `import std.init`"
                     : "write `~ normal(xavier(embed, ffn))`, with `import std.init`";
  if (begins("trunc"))
    return "write `~ truncated_normal(0.02)`";
  if (begins("zeros") || begins("ones") || begins("constant"))
    return "for a constant write `= 0`";
  return "";
}

} // namespace

std::optional<Initialiser> Initialisers::drawn(const CallExpr &call) {
  auto found = call.callee.isSimple() ? distributions().find(call.callee.last().text)
                                      : distributions().end();
  if (found == distributions().end()) {
    std::vector<std::string> names;
    for (const auto &entry : distributions())
      names.push_back(entry.first);
    Diagnostic &diag = report(Code::UnknownInitialiser, call.callee.loc,
                              "no distribution is named `" + call.callee.text() + "`");
    if (std::string scheme = schemeHelp(call.callee.last().text); !scheme.empty())
      diag.help(std::move(scheme));
    else
      suggestName(diag, call.callee.loc, call.callee.text(), names, "the distributions are ");
    return std::nullopt;
  }
  Initialiser init{found->second.kind, 0, 3}; // truncated at 3 deviations by default
  std::vector<double> numbers;
  for (const Arg &arg : call.args) {
    bool isCut = arg.kind == ArgKind::Keyword && arg.name->text == "cut" &&
                 init.kind == Initialiser::Kind::TruncatedNormal;
    if ((arg.kind != ArgKind::Positional && !isCut) || !arg.value) {
      report(Code::BadArgument, arg.loc, "`" + found->first + "` has no such argument")
          .help("write `" + found->first + "(scale)`" +
                (found->second.maxNumbers == 2 ? ", or `(scale, cut = 3)`" : ""));
      return std::nullopt;
    }
    Value value = eval(*arg.value);
    if (!value.isNumber() || value.number() < 0 || !std::isfinite(value.number())) {
      if (!value.isError())
        report(Code::BadInitialValue, arg.value->loc,
               "a scale must be a non-negative number, not " + value.print());
      return std::nullopt;
    }
    if (isCut)
      init.cut = value.number();
    else
      numbers.push_back(value.number());
  }
  if (numbers.empty() || numbers.size() > found->second.maxNumbers) {
    Diagnostic &diag =
        report(Code::BadArgument, call.loc, "`" + found->first + "` takes its scale");
    if (numbers.size() == 2 && numbers[0] == 0 && init.kind == Initialiser::Kind::Normal)
      diag.help("its mean is 0: write `normal(" + Value::ofFloat(numbers[1]).print() + ")`");
    else
      diag.help("write `" + found->first + "(scale)`");
    return std::nullopt;
  }
  init.scale = numbers[0];
  if (numbers.size() == 2)
    init.cut = numbers[1];
  if (init.kind != Initialiser::Kind::TruncatedNormal)
    init.cut = 0;
  return init;
}

std::optional<Initialiser> Initialisers::of(const ParamStmt &stmt) {
  if (stmt.init == ParamInit::None) {
    report(Code::ParameterWithoutInit, stmt.name.loc,
           (stmt.isBuffer ? "buffer `" : "parameter `") + stmt.name.text + "` has no initial value")
        .help("add `= 0`, or a distribution: `~ normal(0.02)`");
    return std::nullopt;
  }
  if (stmt.init == ParamInit::Initialiser) {
    if (auto *call = stmt.initValue->as<CallExpr>())
      return drawn(*call);
    auto *name = stmt.initValue->as<NameExpr>();
    std::string scheme = schemeHelp(name ? name->path.last().text : "");
    report(Code::UnknownInitialiser, stmt.initValue->loc,
           "`~` takes a distribution, such as `normal(0.02)`")
        .help(scheme.empty() ? "for a constant write `=`" : scheme);
    return std::nullopt;
  }
  return constant(*stmt.initValue);
}

std::optional<Initialiser> Initialisers::constant(const Expr &expr) {
  if (auto *call = expr.as<CallExpr>(); call && distributions().count(call->callee.text()) &&
                                        !library.lookup(*context.frame->unit, call->callee)) {
    report(Code::BadInitialValue, expr.loc,
           "`=` takes a number, but `" + call->callee.text() + "` is a distribution")
        .help("write `~` instead of `=`");
    return std::nullopt;
  }
  auto *call = expr.as<CallExpr>();
  auto *name = expr.as<NameExpr>();
  std::string word = call ? call->callee.last().text : name ? name->path.last().text : "";
  if ((word == "zeros" || word == "ones") && (call || !lookup(name->path.last()))) {
    report(Code::BadInitialValue, expr.loc, "the initial value of a parameter is a number")
        .help(word == "zeros" ? "write `= 0`" : "write `= 1`");
    return std::nullopt;
  }
  Value value = eval(expr);
  if (value.isNumber())
    return Initialiser{Initialiser::Kind::Constant, value.number(), 0};
  if (!value.isError())
    report(Code::BadInitialValue, expr.loc,
           std::string("the initial value of a parameter is a number, not ") + value.describe());
  return std::nullopt;
}

} // namespace titan::sema
