// Parameters and how they start.
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

using namespace syntax;

namespace {

struct Distribution {
  Initialiser::Kind kind;
  size_t mostNumbers; // positional
};

const std::map<std::string, Distribution> &distributions() {
  static const std::map<std::string, Distribution> table = {
      {"normal", {Initialiser::Kind::Normal, 1}},
      {"truncated_normal", {Initialiser::Kind::TruncatedNormal, 2}},
      {"uniform", {Initialiser::Kind::Uniform, 1}}};
  return table;
}

} // namespace

std::optional<Initialiser> Elaborator::drawn(const CallExpr &call) {
  auto found = call.callee.isSimple() ? distributions().find(call.callee.last().text)
                                      : distributions().end();
  if (found == distributions().end()) {
    std::vector<std::string> names;
    for (const auto &entry : distributions())
      names.push_back(entry.first);
    Diagnostic &diag = report(Code::UnknownInitialiser, call.callee.loc,
                              "no distribution is named `" + call.callee.text() + "`");
    proposeName(diag, call.callee.loc, call.callee.text(), names, "the distributions are ");
    return std::nullopt;
  }
  Initialiser init{found->second.kind, 0, 3};
  std::vector<double> numbers;
  for (const Arg &arg : call.args) {
    bool isCut = arg.kind == ArgKind::Keyword && arg.name->text == "cut" &&
                 init.kind == Initialiser::Kind::TruncatedNormal;
    if ((arg.kind != ArgKind::Positional && !isCut) || !arg.value) {
      report(Code::BadArgument, arg.loc, "`" + found->first + "` takes no such argument")
          .help("write `" + found->first + "(scale)`" +
                (found->second.mostNumbers == 2 ? ", or `(scale, cut = 3)`" : ""));
      return std::nullopt;
    }
    Value value = eval(*arg.value);
    if (!value.isNumber() || value.number() < 0 || !std::isfinite(value.number())) {
      if (!value.isError())
        report(Code::BadInitialValue, arg.value->loc,
               "a scale must be a number from 0 on, not " + value.print());
      return std::nullopt;
    }
    if (isCut)
      init.cut = value.number();
    else
      numbers.push_back(value.number());
  }
  if (numbers.empty() || numbers.size() > found->second.mostNumbers) {
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

std::optional<Initialiser> Elaborator::initialiser(const ParamStmt &stmt) {
  if (stmt.init == ParamInit::None) {
    report(Code::ParameterWithoutInit, stmt.name.loc,
           (stmt.isBuffer ? "buffer `" : "parameter `") + stmt.name.text +
               "` does not say how it starts")
        .help("add `= 0`, or draw it: `~ normal(0.02)`");
    return std::nullopt;
  }
  if (stmt.init == ParamInit::Initialiser) {
    if (auto *call = stmt.initValue->as<CallExpr>())
      return drawn(*call);
    report(Code::UnknownInitialiser, stmt.initValue->loc,
           "after `~` stands a distribution, such as `normal(0.02)`")
        .help("for a constant write `=`");
    return std::nullopt;
  }
  return constantInitialiser(*stmt.initValue);
}

std::optional<Initialiser> Elaborator::constantInitialiser(const Expr &expr) {
  if (auto *call = expr.as<CallExpr>(); call && distributions().count(call->callee.text()) &&
                                        !library.lookup(*frame->unit, call->callee)) {
    report(Code::BadInitialValue, expr.loc,
           "after `=` stands a number, but `" + call->callee.text() + "` is a distribution")
        .help("write `~` instead of `=`");
    return std::nullopt;
  }
  auto *call = expr.as<CallExpr>();
  auto *name = expr.as<NameExpr>();
  std::string word = call ? call->callee.last().text : name ? name->path.last().text : "";
  if ((word == "zeros" || word == "ones") && (call || !lookup(name->path.last()))) {
    report(Code::BadInitialValue, expr.loc, "a parameter starts as a number")
        .help(word == "zeros" ? "write `= 0`" : "write `= 1`");
    return std::nullopt;
  }
  Value value = eval(expr);
  if (value.isNumber())
    return Initialiser{Initialiser::Kind::Constant, value.number(), 0};
  if (!value.isError())
    report(Code::BadInitialValue, expr.loc,
           std::string("a parameter starts as a number, not as ") + value.describe());
  return std::nullopt;
}

bool Elaborator::isFrozen(const ParamStmt &stmt) {
  bool frozen = false;
  for (const Setting &option : stmt.options) {
    if (stmt.isBuffer) {
      report(Code::UnknownOption, option.path.loc, "a buffer has no options");
      continue;
    }
    if (option.path.text() != "frozen" || !option.value) {
      report(Code::UnknownOption, option.path.loc,
             "a parameter has no option `" + option.path.text() + "`")
          .help("the options of parameters are `frozen`");
      continue;
    }
    frozen = condition(*option.value).value_or(false);
  }
  return frozen;
}

/// A function that declares parameters was meant to be a block: once said, all is said.
bool Elaborator::refuseParameter(const ParamStmt &stmt, const char *what) {
  if (!frame->decl->is<FnDecl>())
    return false;
  if (!frame->declaresWrongly)
    report(Code::MisplacedStatement, stmt.loc,
           std::string("a function has no ") + what + "s of its own")
        .help("make it a block, or pass the tensor in");
  frame->declaresWrongly = true;
  frame->returned = Value();
  return true;
}

void Elaborator::param(const ParamStmt &stmt) {
  const char *what = stmt.isBuffer ? "buffer" : "parameter";
  if (refuseParameter(stmt, what))
    return;
  Value value;
  variable = stmt.name.text;
  std::optional<DimSet> dims = stmt.type.dims ? dimSet(*stmt.type.dims) : DimSet();
  std::optional<Initialiser> init = initialiser(stmt);
  bool frozen = isFrozen(stmt);
  std::optional<DType> dtype = storedType(stmt);
  if (dims && init && dtype && mayStart(stmt, *dtype, *init)) {
    Parameter fresh;
    fresh.type = {*dtype, *dims};
    fresh.initialisers = {*init};
    fresh.frozen = frozen;
    fresh.isBuffer = stmt.isBuffer;
    fresh.loc = stmt.name.loc;
    if (std::optional<uint32_t> index = recordParameter(stmt, std::move(fresh))) {
      Op op(OpKind::Parameter);
      op.index = *index;
      value = append(std::move(op), {*dtype, *dims}, stmt.name.loc);
    }
  }
  variable.clear();
  frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, what});
}

/// `layers.encoder.wq`, behind the repeats and named calls around it.
std::string Elaborator::parameterName(const std::string &name) const {
  std::string repeats, calls;
  for (const Loop &loop : loops)
    repeats += model.dims[loop.dim].name + ".";
  for (const Frame *at = frame; at; at = at->caller)
    calls = at->prefix + calls;
  return repeats + calls + name;
}

/// Inside a repeat the first iteration that has it makes the parameter; the others add how theirs
/// starts.
std::optional<uint32_t> Elaborator::recordParameter(const ParamStmt &stmt, Parameter fresh) {
  ++declarations;
  std::vector<int64_t> instance;
  for (const Loop &loop : loops) {
    if (std::find(fresh.repeats.begin(), fresh.repeats.end(), loop.dim) != fresh.repeats.end()) {
      report(Code::DimensionTwice, stmt.name.loc,
             "parameter `" + stmt.name.text + "` would have dimension `" +
                 model.dims[loop.dim].name + "` twice: two repeats around it run over it")
          .help("give one of the repeats a dimension of its own: `dims inner = ...`");
      return std::nullopt;
    }
    fresh.repeats.push_back(loop.dim);
    instance.push_back(loop.index);
  }
  fresh.name = parameterName(stmt.name.text);
  auto [entry, isNew] =
      parameterIndex.try_emplace(fresh.name, static_cast<uint32_t>(model.parameters.size()));
  if (isNew) {
    model.parameters.push_back(std::move(fresh));
    instances.push_back({instance});
    return entry->second;
  }
  Parameter &known = model.parameters[entry->second];
  std::vector<std::vector<int64_t>> &seen = instances[entry->second];
  if (seen.back() == instance || known.loc != fresh.loc) {
    report(Code::ParameterTwice, stmt.name.loc,
           "two parameters would be called `" + fresh.name + "`")
        .note(known.loc, "the other one is here")
        .help("name the second call: `Block(x, named = \"second\")` puts `second.` before the "
              "names of "
              "its parameters");
    frame->declaresWrongly = frame->caller; // so would all others of the call be
    return std::nullopt;
  }
  if (known.type != fresh.type) {
    report(Code::IterationsDiffer, stmt.name.loc,
           "parameter `" + stmt.name.text + "` has " + printSizes(known.type.dims) +
               " in one iteration of the repeat and " + printSizes(fresh.type.dims) +
               " in another");
    return std::nullopt;
  }
  if (known.frozen != fresh.frozen || known.initialisers[0].kind != fresh.initialisers[0].kind ||
      known.initialisers[0].cut != fresh.initialisers[0].cut) {
    report(Code::IterationsDiffer, stmt.name.loc,
           "parameter `" + stmt.name.text + "` starts in another way in iteration " +
               std::to_string(instance.back()) + " of the repeat")
        .help("only the scale may differ from iteration to iteration");
    return std::nullopt;
  }
  known.initialisers.push_back(fresh.initialisers[0]);
  seen.push_back(std::move(instance));
  return entry->second;
}

/// Once all iterations are known: which of them have the parameter, and how it starts if all start
/// alike.
void Elaborator::finishParameter(uint32_t index) {
  Parameter &parameter = model.parameters[index];
  std::vector<Initialiser> &all = parameter.initialisers;
  if (std::all_of(all.begin(), all.end(), [&](const Initialiser &one) { return one == all[0]; }))
    all.resize(1);
  size_t product = 1;
  for (size_t level = 0; level < parameter.repeats.size(); ++level) {
    std::set<int64_t> iterations;
    for (const std::vector<int64_t> &instance : instances[index])
      iterations.insert(instance[level]);
    parameter.iterations.emplace_back(iterations.begin(), iterations.end());
    product *= iterations.size();
  }
  if (product != instances[index].size())
    report(Code::IterationsDiffer, parameter.loc,
           "parameter `" + parameter.name +
               "` is in other iterations of the inner repeat as the outer one goes on")
        .help(
            "give it to the same iterations of the inner repeat wherever the outer one has it, or "
            "call the two cases by different names (`named = ...`)");
}

} // namespace titan::sema
