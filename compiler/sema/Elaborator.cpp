// Names, dimensions, and the emission of ops: what all parts of the elaboration use.
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"

namespace titan::sema {

using namespace syntax;

bool Elaborator::run(const Symbol &symbol, const Specialisation &given) {
  const ModelDecl &decl = *symbol.decl->as<ModelDecl>();
  size_t errorsBefore = diags.errorReports();
  spec = given;
  Scope scope;
  Frame top{&decl, symbol.unit, &scope, nullptr, decl.loc, {}, {}};
  frame = &top;
  region = &model.body;
  model.name = decl.name.text;
  model.loc = decl.name.loc;
  for (const auto &[name, argument] : spec.dataDims)
    scope.define(name, {argument.value, {}, true, argument.loc, "dimension of the data"});
  std::map<std::string, Argument> left = spec.arguments;
  for (const Formal &formal : decl.formals) {
    Value value;
    Location loc = formal.loc;
    if (auto found = left.find(formal.name.text); found != left.end()) {
      value = found->second.value;
      loc = found->second.loc;
      left.erase(found);
    } else if (formal.defaultValue) {
      value = eval(*formal.defaultValue);
    } else {
      report(Code::ArgumentMissing, model.loc,
             "model `" + model.name + "` needs a value for `" + formal.name.text + "`")
          .note(formal.name.loc, "declared here, without a default");
    }
    scope.define(formal.name.text, {value, {}, true, loc, "argument"});
  }
  elaborate(decl.body);
  frame = nullptr;
  return diags.errorReports() == errorsBefore;
}

Value Elaborator::evalConstant(const Expr &expr, const Library &library, const Unit &unit,
                               DiagnosticEngine &diags) {
  Model scratch;
  Elaborator elaborator(library, diags, scratch);
  Scope scope;
  Frame top{nullptr, &unit, &scope, nullptr, expr.loc, {}, {}};
  elaborator.frame = &top;
  elaborator.region = &scratch.body;
  return elaborator.eval(expr);
}

//===--- Reports -----------------------------------------------------------------------------===//

void Elaborator::noteCalls(Diagnostic &diag) const {
  size_t shown = 0;
  for (const Frame *at = frame; at && at->caller && shown < 4; at = at->caller, ++shown)
    diag.note(at->callSite, "in the call of `" + nameOf(*at->decl).text + "` here");
}

Diagnostic &Elaborator::report(Code code, Location at, std::string message) {
  Diagnostic &diag = diags.report(code, at, std::move(message));
  noteCalls(diag);
  return diag;
}

void Elaborator::noteOperand(Diagnostic &diag, const Expr &expr, const DimSet &dims) {
  const Expr *root = &expr;
  while (auto *index = root->as<IndexExpr>())
    root = index->base.get();
  auto *name = root->as<NameExpr>();
  Binding *binding = name && name->path.isSimple() ? lookup(name->path.last()) : nullptr;
  diag.note(expr.loc, "this has " + print(dims));
  if (binding && std::string_view(binding->what) == "parameter")
    diag.note(binding->loc, "`" + name->path.text() + "` is declared here");
}

bool Elaborator::expectTensor(const Value &value, Location at, const char *what) {
  if (value.isTensor())
    return true;
  if (!value.isError())
    report(Code::ExpectedTensor, at,
           std::string(what) + " must be a tensor, not " + value.describe());
  return false;
}

/// Proposes the nearest candidate and shows where that one comes from.
void Elaborator::propose(Diagnostic &diag, const Name &name,
                         const std::vector<std::string> &candidates) {
  std::string near = nearestName(name.text, candidates);
  if (near.empty())
    return;
  diag.fix(name.loc, near);
  Path path{{{near, name.loc}}, name.loc};
  if (Binding *known = frame->scope->find(near))
    diag.note(known->loc, "`" + near + "` is declared here");
  else if (Symbol symbol = library.lookup(*frame->unit, path))
    diag.note(nameOf(*symbol.decl).loc, "`" + near + "` is declared here");
}

void Elaborator::reportUnknownName(const Name &name, Location at) {
  std::vector<std::string> candidates = library.names(*frame->unit);
  frame->scope->collect(candidates, false);
  Diagnostic &diag = report(Code::UnknownName, at, "nothing is named `" + name.text + "` here");
  propose(diag, name, candidates);
  if (Binding *outer = findDimInCallers(name.text, frame)) {
    diag.note(outer->loc, "the model has this " + std::string(outer->what));
    diag.help("a block sees what it declares: add `dims " + name.text +
              "`, or make it a parameter of `" + nameOf(*frame->decl).text + "`");
  }
  // One message for one mistake: from here on the name stands for something wrong.
  frame->scope->define(name.text, {{}, {}, true, at, "name"});
}

void Elaborator::reportUnknownDim(const Name &name) {
  std::vector<std::string> candidates;
  frame->scope->collect(candidates, true);
  Diagnostic &diag =
      report(Code::UnknownDimension, name.loc, "no dimension is named `" + name.text + "` here");
  propose(diag, name, candidates);
  if (Binding *outer = findDimInCallers(name.text, frame)) {
    diag.note(outer->loc, "the model has a dimension of this name");
    diag.help("a block sees the dimensions that it declares: add `dims " + name.text + "`");
  }
  frame->scope->define(name.text, {{}, {}, true, name.loc, "dimension"});
}

/// Everything is interpreted, so a short text can ask for endless work; no program that could ever
/// train comes near these bounds.
bool Elaborator::withinBounds(Location at) {
  constexpr size_t mostValues = 500'000, mostIterations = 200'000;
  if (tooLarge)
    return false;
  if (model.values.size() < mostValues && iterations < mostIterations)
    return true;
  tooLarge = true;
  report(Code::TooLarge, at,
         "the program is too large: it has over " +
             std::to_string(iterations < mostIterations ? mostValues : mostIterations) +
             (iterations < mostIterations ? " operations" : " iterations of repeats"));
  return false;
}

//===--- Dimensions --------------------------------------------------------------------------===//

Binding *Elaborator::findDimInCallers(const std::string &name, Frame *from) {
  for (Frame *at = from ? from->caller : nullptr; at; at = at->caller) {
    Binding *found = at->scope->find(name);
    if (found && found->mayBeDim)
      return found;
  }
  return nullptr;
}

std::vector<DimId> Elaborator::asDims(const std::string &name, Binding &binding, Location at) {
  if (!binding.dims.empty() || binding.value.isError())
    return binding.dims;
  auto refuse = [&](std::string why) {
    report(Code::NotADimension, at, "`" + name + "` cannot be a dimension: " + why)
        .note(binding.loc, "`" + name + "` comes from here");
    return std::vector<DimId>();
  };
  if (!binding.mayBeDim)
    return refuse(std::string("it is ") + binding.value.describe());
  if (!binding.value.isInt())
    return refuse("its value is " + binding.value.print() + ", not an integer");
  if (binding.value.integer < 1)
    return refuse("its size would be " + binding.value.print());
  binding.dims = {model.dims.add(name, binding.value.integer)};
  return binding.dims;
}

std::vector<DimId> Elaborator::dimsOf(const Path &path) {
  if (!path.isSimple()) {
    report(Code::UnknownDimension, path.loc, "no dimension is named `" + path.text() + "` here");
    return {};
  }
  Binding *binding = lookup(path.last());
  if (!binding) {
    reportUnknownDim(path.last());
    return {};
  }
  return asDims(path.last().text, *binding, path.loc);
}

std::optional<DimId> Elaborator::dimOf(const Path &path) {
  std::vector<DimId> dims = dimsOf(path);
  if (dims.size() > 1)
    report(Code::NotADimension, path.loc,
           "`" + path.text() + "` stands for several dimensions here; one is needed");
  return dims.size() == 1 ? std::optional(dims[0]) : std::nullopt;
}

std::optional<DimSet> Elaborator::dimSet(const DimList &list) {
  DimSet set;
  bool good = true;
  for (const DimRef &ref : list.dims) {
    std::vector<DimId> dims = dimsOf(ref.dim);
    good &= !dims.empty();
    for (DimId dim : dims) {
      DimId id = ref.rename ? namedDim(*ref.rename, dim, model.dims[dim].size, ref.loc) : dim;
      if (set.insert(id))
        continue;
      report(Code::DimensionTwice, ref.loc,
             "dimension `" + model.dims[id].name + "` stands twice in one tensor")
          .help("give the second one a name of its own: `" + ref.dim.text() + " as other`");
      good = false;
    }
    if (ref.rename && !dims.empty()) {
      DimId id = namedDim(*ref.rename, dims[0], model.dims[dims[0]].size, ref.loc);
      Value size = Value::ofInt(model.dims[id].size);
      frame->scope->define(ref.rename->text, {size, {id}, true, ref.rename->loc, "dimension"});
    }
  }
  return good ? std::optional(set) : std::nullopt;
}

/// The same text met again (a repeat's next iteration, a second call) makes the same dimension, so
/// that values of equal meaning have equal types.
DimId Elaborator::derivedDim(DimId from, const std::string &name, int64_t size, Location at) {
  auto key = std::make_tuple(from, name, size, at.line, static_cast<uint32_t>(at.file));
  auto [entry, fresh] = derived.try_emplace(key, 0);
  if (fresh)
    entry->second =
        from == noDim ? model.dims.add(name, size) : model.dims.derive(from, name, size);
  return entry->second;
}

DimId Elaborator::namedDim(const Name &name, DimId from, int64_t size, Location at) {
  Binding *known = lookup(name);
  bool isThat = known && known->dims.size() == 1 && model.dims[known->dims[0]].size == size;
  return isThat ? known->dims[0] : derivedDim(from, name.text, size, at);
}

std::string Elaborator::print(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + model.dims[id].name;
  return "[" + all + "]";
}

std::string Elaborator::printSizes(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + model.dims[id].name + " = " +
           std::to_string(model.dims[id].size);
  return "[" + all + "]";
}

std::string Elaborator::quote(const DimSet &dims) const {
  std::vector<std::string> names;
  for (DimId id : dims)
    names.push_back(model.dims[id].name);
  return listNames(names);
}

std::optional<DType> Elaborator::dtypeOf(const Name &name) {
  static const std::map<std::string, DType> dtypes = {{"f32", DType::F32},   {"f64", DType::F64},
                                                      {"bf16", DType::BF16}, {"f16", DType::F16},
                                                      {"int", DType::I64},   {"bool", DType::Bool}};
  auto found = dtypes.find(name.text);
  if (found != dtypes.end())
    return found->second;
  report(Code::UnknownDType, name.loc, "`" + name.text + "` is not an element type")
      .help("the element types are f32, f64, bf16, f16, int and bool");
  return std::nullopt;
}

//===--- Emission ----------------------------------------------------------------------------===//

/// Ops of an inlined function belong to the line that called it: that is the line a reader of the
/// emitted program wants to see. Blocks keep their own lines.
Location Elaborator::placeOf(Location at) const {
  Location place = at;
  for (const Frame *inner = frame; inner && inner->decl && inner->decl->is<FnDecl>();
       inner = inner->caller)
    place = inner->callSite;
  return place;
}

ValueId Elaborator::newValue(TensorType type, Location at) {
  model.values.push_back({std::move(type), variable.empty() ? "value" : variable, placeOf(at)});
  return static_cast<ValueId>(model.values.size() - 1);
}

/// Sizes are products of what a user writes; beyond this bound they could not even be counted.
bool Elaborator::checkElements(const TensorType &type, Location at) {
  constexpr double most = 0x1p53;
  double count = 1;
  for (const Loop &loop : loops)
    count *= static_cast<double>(model.dims[loop.dim].size);
  for (DimId id : type.dims)
    count *= static_cast<double>(model.dims[id].size);
  if (count > most)
    report(Code::TooLarge, at,
           "a tensor with " + printSizes(type.dims) + " has over 2**53 elements");
  return count <= most;
}

Value Elaborator::emit(Op op, TensorType type, Location at) {
  if (!checkElements(type, at))
    return {};
  ValueId id = newValue(std::move(type), at);
  op.results = {id};
  op.loc = model.values[id].loc;
  op.name = model.values[id].name;
  region->ops.push_back(std::move(op));
  return Value::ofTensor(id);
}

} // namespace titan::sema
