// Builds the diagnostics of the elaborator, with the calls that lead to an error.
#include "base/data/Feed.h"
#include "compiler/sema/elaboration/BodyNames.h"
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/elaboration/SymbolicConstants.h"
#include "compiler/sema/modules/CountNames.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/syntax/ForeignNames.h"

#include "base/text/NearestName.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

/// Adds a note for each active call.
static void noteCalls(Diagnostic &diag, const Frame *frame) {
  constexpr size_t maxCalls = 4; // the innermost ones; more notes would hide the error
  size_t shown = 0;
  for (const Frame *at = frame; at && at->caller && shown < maxCalls; at = at->caller, ++shown) {
    const std::string &name = getName(*at->decl).text;
    diag.note(at->callSite, "in the call of `" + name + "` here");
    if (at->calleeValue)
      diag.note(at->calleeValue->loc, "`" + name + "` is passed as an argument here");
  }
}

Diagnostic &Reports::report(Code code, Location at, std::string message) {
  Diagnostic &diag = diags.report(code, at, std::move(message));
  noteCalls(diag, context.frame);
  return diag;
}

/// Collects the names of the factors of a product, or of an indexed value.
static void collectFactors(const Expr &expr, std::vector<const Name *> &names) {
  if (auto *index = expr.as<IndexExpr>())
    collectFactors(*index->base, names);
  else if (auto *typed = expr.as<TypedExpr>())
    collectFactors(*typed->base, names);
  else if (auto *name = expr.as<NameExpr>(); name && name->path.isSimple())
    names.push_back(&name->path.last());
  else if (auto *product = expr.as<BinaryExpr>();
           product && (product->op == BinaryOp::Contract || product->op == BinaryOp::Mul)) {
    collectFactors(*product->lhs, names);
    collectFactors(*product->rhs, names);
  }
}

void Reports::noteOperand(Diagnostic &diag, const Expr &expr, const DimSet &dims) {
  diag.note(expr.loc, "this has " + print(dims));
  std::vector<const Name *> names;
  collectFactors(expr, names);
  for (const Name *name : names)
    if (Binding *binding = lookup(*name);
        binding && (std::string_view(binding->what) == "parameter" ||
                    std::string_view(binding->what) == "buffer"))
      diag.note(binding->getDeclaration(), "`" + name->text + "` is declared here");
}

bool Reports::expectTensor(const Value &value, Location at, const char *what) {
  if (value.isTensor())
    return true;
  if (!value.isError() && !refuseCallable(value, at))
    report(Code::ExpectedTensor, at,
           std::string(what) + " must be a tensor, not " + value.describe());
  return false;
}

bool Reports::refuseCallable(const Value &value, Location at) {
  if (!value.isCallable())
    return false;
  const Callable &callable = *value.callable;
  std::string name = callable.callee.name();
  Diagnostic &diag = report(Code::NotAValue, at,
                            "`" + name + "` is " + value.describe() +
                                ", which can only be called or passed as an argument");
  if (callable.callee.symbol)
    diag.note(getName(*callable.callee.symbol.decl).loc, "declared here");
  diag.help("call it: `" + name + "(...)`");
  return true;
}

/// The candidates that the body declares and its text has once: nothing uses them.
std::vector<std::string> Reports::listUnused(const std::vector<std::string> &candidates) {
  std::vector<std::string> unused;
  constexpr size_t mostCandidates = 10'000; // bounds the time of a suggestion
  if (!context.frame->decl || candidates.size() > mostCandidates)
    return unused;
  if (counted != context.frame->decl) {
    counted = context.frame->decl;
    counts = countNames(diags.sourceManager().text(counted->loc));
  }
  for (const std::string &candidate : candidates)
    if (const auto found = counts.find(candidate);
        found != counts.end() && found->second == 1 && context.frame->scope->findOwn(candidate))
      unused.push_back(candidate);
  return unused;
}

/// The only name that nothing uses is probably the one that is missing.
void Reports::noteUnused(Diagnostic &diag) {
  std::vector<std::string> visible;
  context.frame->scope->collect(visible, /*dimsOnly=*/false);
  if (const std::vector<std::string> unused = listUnused(visible); unused.size() == 1)
    diag.note(context.frame->scope->findOwn(unused[0])->getDeclaration(),
              "nothing uses `" + unused[0] + "`, which is declared here");
}

/// Suggests the nearest name. Of equally near ones, one that nothing uses is probably misspelt
/// where it is declared, and so is the only unused name if none is near.
void Reports::suggest(Diagnostic &diag, const Path &path, const Candidates &candidates) {
  if (diags.isFull())
    return;
  const std::vector<std::string> known = candidates(), unused = listUnused(known);
  std::string near = nearestName(path.text(), known);
  if (const std::string other = nearestName(path.text(), unused);
      !other.empty() && editDistance(path.text(), other) <= editDistance(path.text(), near))
    near = other;
  if (near.empty())
    return;
  diag.fix(path.loc, near);
  if (Binding *binding = context.frame->scope->find(near))
    diag.note(binding->getDeclaration(), "`" + near + "` is declared here");
  else if (Symbol symbol = library.lookup(*context.frame->unit, near))
    diag.note(getName(*symbol.decl).loc, "`" + near + "` is declared here");
}

bool Reports::member(const Path &path) {
  Binding *binding = path.isSimple() ? nullptr : lookup(path.segments[0]);
  if (!binding)
    return false;
  if (binding->value.isError())
    return true; // reported already
  const std::string &base = path.segments[0].text, &member = path.last().text;
  std::vector<std::string> names;
  context.frame->scope->collect(names, /*dimsOnly=*/false);
  if (std::any_of(names.begin(), names.end(),
                  [&](const std::string &name) { return name.starts_with(base + "."); }))
    return false; // parameters have such names in a `merge`
  Diagnostic &diag =
      report(Code::UnknownName, path.loc,
             "`" + base + "` is " + binding->value.describe() + " and has no `" + member + "`");
  suggestFunction(diag, path, *binding);
  return true;
}

/// Values have no members: suggests the function for `x.member`.
void Reports::suggestFunction(Diagnostic &diag, const Path &path, const Binding &binding) {
  const std::string &base = path.segments[0].text, &member = path.last().text;
  const bool isTensor = binding.value.isTensor() && !getTensorType(binding.value).dims.empty();
  static const std::set<std::string> overDims = {"sum", "mean", "max", "min", "softmax"};
  if (std::string help = foreignHelp(member, base); !help.empty()) {
    diag.help(std::move(help));
    return;
  }
  if (overDims.count(member) && isTensor) {
    const DimSet &dims = getTensorType(binding.value).dims;
    diag.help("write a function call, and name the dimensions: `" + member + "(" + base +
              ", over " + model.dims[dims[dims.size() - 1]].name + ")`");
    return;
  }
  const bool isOurs = Builtins::table().count(member) || Reshaping::functions().count(member) ||
                      library.lookup(*context.frame->unit, member);
  if (isOurs)
    diag.help("write a function call: `" + member + "(" + base + ")`");
  else if (library.suggestImport(diag, *context.frame->unit, Path{{path.last()}, path.loc}))
    diag.help("call `" + member + "(" + base + ")`; " + diag.remedy);
  else
    diag.help("values have no members: write a function call, `f(" + base + ")`");
}

Diagnostic &Reports::unknownName(const Name &name) {
  return unknownName(Path{{name}, name.loc}, name.loc);
}

Diagnostic &Reports::unknownName(const Path &path, Location at) {
  const Name &name = path.segments[0];
  Diagnostic &diag = report(Code::UnknownName, at, "nothing is named `" + path.text() + "` here");
  bool isSuggested = !diags.isFull() && library.suggestImport(diag, *context.frame->unit, path);
  bool isInside = !path.isSimple() && lookup(path.last()); // `self.wq`
  const auto isMisspelt = [&] {
    std::vector<std::string> visible;
    context.frame->scope->collect(visible, /*dimsOnly=*/false);
    return !nearestName(name.text, visible).empty();
  };
  // Data can supply an input of this name, unless the declaration of a value is misspelt.
  bool isFed = path.isSimple() && findFeed(name.text) && !isMisspelt();
  if (isInside)
    diag.fix(path.loc, path.last().text);
  else if (isFed && context.frame->decl && context.frame->decl->is<ModelDecl>())
    diag.help("declare an input of the data: `input " + name.text + ": int[" +
              spec.dataDims.list() + "]`");
  else if (!isSuggested)
    suggest(diag, path, [&] {
      std::vector<std::string> candidates = library.names(*context.frame->unit);
      context.frame->scope->collect(candidates, /*dimsOnly=*/false);
      candidates.insert(candidates.end(), symbolicConstants().begin(), symbolicConstants().end());
      candidates.insert(candidates.end(), {"none", "true", "false"});
      return candidates;
    });
  if (!path.isSimple())
    return diag;
  if (Binding *outer = findDimInCallers(name.text, context.frame)) {
    diag.note(outer->loc, "the model has this " + std::string(outer->what));
    diag.help("a block sees only its own names: add `dims " + name.text +
              "`, or make it a parameter of `" + getName(*context.frame->decl).text + "`");
  }
  const bool hasHelp = !diag.remedy.empty() || diag.fixIt;
  if (!hasHelp && !diags.isFull())
    noteUnused(diag);
  if (name.text == "loss")
    diag.help("terms of the loss are named, and the run minimises their sum: `loss aux = ...`");
  else if (std::string help = foreignHelp(name.text); !hasHelp && !help.empty())
    diag.help(std::move(help));
  // Defines the name as an error, so one error gives one message.
  context.frame->scope->define(name.text, {{}, {}, true, at, "name"});
  return diag;
}

/// A known name that is a prefix of this one, or vice versa: `seq` for `sequence`.
static std::string abbreviated(const std::string &name, const std::vector<std::string> &known) {
  constexpr size_t least = 3;
  for (const std::string &one : known)
    if (one != name && std::min(one.size(), name.size()) >= least &&
        (one.rfind(name, 0) == 0 || name.rfind(one, 0) == 0))
      return one;
  return "";
}

/// The role of a dimension by its index in an input of a model, if the index determines a role:
/// samples are first, positions of tokens second.
static const char *roleInInput(const ModelDecl &model, const Name &name, bool readsTokens) {
  for (const StmtPtr &stmt : model.body.stmts)
    if (auto *input = stmt->as<InputStmt>(); input && input->type.dims)
      for (const DimRef &ref : input->type.dims->dims)
        if (ref.dim.loc == name.loc) {
          const auto at = &ref - input->type.dims->dims.data();
          return at == 0 ? "samples" : at == 1 && readsTokens ? "positions" : nullptr;
        }
  return nullptr;
}

/// How the dimension gets a size.
void Reports::helpToDeclare(Diagnostic &diag, const ModelDecl &decl, const Name &name) {
  std::string help =
      "declare its size first: `dims " + name.text + " = 16`, or as an argument of the model";
  if (const char *role = roleInInput(decl, name, spec.readsTokens))
    help += std::string("; if ") + role + " are along it, write `data { " + role + " = " +
            name.text + " }` in the run";
  diag.help(std::move(help));
}

/// The right side of a statement creates the dimension that its left side names.
bool Reports::isCreatedLater(Diagnostic &diag, const Name &name) {
  const Location value = elaboration.statements.definingValue;
  if (!value.isValid())
    return false;
  const std::vector<Name> created = namesAfterAs(diags.sourceManager(), value);
  if (std::none_of(created.begin(), created.end(),
                   [&](const Name &other) { return other.text == name.text; }))
    return false;
  diag.note(value, "`" + name.text + "` begins in this value");
  diag.help("a declaration cannot name what its own value creates: rename in a statement before, "
            "`let other = x[... as " +
            name.text + "]`");
  context.frame->scope->define(name.text, {{}, {}, true, name.loc, "dimension"});
  return true;
}

void Reports::unknownDim(const Name &name) {
  Diagnostic &diag =
      report(Code::UnknownDimension, name.loc, "no dimension is named `" + name.text + "` here");
  if (isCreatedLater(diag, name))
    return;
  std::vector<std::string> known;
  if (!diags.isFull())
    context.frame->scope->collect(known, /*dimsOnly=*/true);
  const std::string longer = abbreviated(name.text, known);
  if (!longer.empty())
    diag.fix(name.loc, longer);
  else
    suggest(diag, Path{{name}, name.loc}, [&] { return known; });
  if (auto *decl = context.frame->decl ? context.frame->decl->as<ModelDecl>() : nullptr;
      decl && diag.remedy.empty() && !diag.fixIt)
    helpToDeclare(diag, *decl, name);
  if (Binding *outer = findDimInCallers(name.text, context.frame)) {
    diag.note(outer->loc, "the model has a dimension of this name");
    diag.help("a block sees only its own dimensions: add `dims " + name.text + "`");
  }
  context.frame->scope->define(name.text, {{}, {}, true, name.loc, "dimension"});
}

} // namespace titan::sema
