// Names, dimensions, and the emission of ops: what all parts of the elaboration use.
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Options.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

static constexpr size_t mostDims = 64; // of a tensor

bool Elaborator::run(const Symbol &symbol, const Specialisation &given) {
  const ModelDecl &decl = *symbol.decl->as<ModelDecl>();
  size_t errorsBefore = diags.errorReports();
  spec = given;
  computeType = spec.compute;
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
    std::string_view kind = value.describe(); // with its article
    model.arguments.push_back(
        {formal.name.text, std::string(kind.substr(kind.find(' ') + 1)), value.print()});
    scope.define(formal.name.text, {value, {}, true, loc, "argument"});
  }
  elaborate(decl.body);
  frame = nullptr;
  return diags.errorReports() == errorsBefore;
}

Value Elaborator::evalConstant(const Expr &expr, const Library &library, const Unit &unit,
                               DiagnosticEngine &diags) {
  Model scratch;
  Scope scope;
  Frame top{nullptr, &unit, &scope, nullptr, expr.loc, {}, {}};
  return Elaborator(library, diags, scratch, top).eval(expr);
}

std::optional<Initialiser> Elaborator::evalInitialiser(const Expr &expr, const Library &library,
                                                       const Unit &unit, DiagnosticEngine &diags) {
  Model scratch;
  Scope scope;
  Frame top{nullptr, &unit, &scope, nullptr, expr.loc, {}, {}};
  Elaborator elaborator(library, diags, scratch, top);
  auto *call = expr.as<CallExpr>();
  bool isDrawn = call && !library.lookup(unit, call->callee);
  return isDrawn ? elaborator.drawn(*call) : elaborator.constantInitialiser(expr);
}

Elaborator::Elaborator(const Library &library, DiagnosticEngine &diags, Model &scratch, Frame &top)
    : library(library), diags(diags), model(scratch), frame(&top), region(&scratch.body) {}

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
    if (binding.mayBeDim)
      binding.value = {}; // that was said; a tensor may be right elsewhere
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

std::vector<DimId> Elaborator::dimsAfter(const Arg &arg) {
  std::vector<DimId> all;
  for (const Path &path : arg.dims->from) {
    std::vector<DimId> dims = dimsOf(path);
    if (dims.empty())
      return {};
    for (DimId dim : dims) {
      if (std::find(all.begin(), all.end(), dim) != all.end()) {
        report(Code::DimensionTwice, path.loc,
               "dimension `" + model.dims[dim].name + "` stands twice here");
        return {};
      }
      all.push_back(dim);
    }
  }
  return all;
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
  if (list.dims.size() > mostDims) {
    report(Code::TooLarge, list.loc,
           "a tensor has at most " + std::to_string(mostDims) + " dimensions");
    return std::nullopt;
  }
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
  static const std::map<std::string, DType> dtypes = {{"f32", DType::F32},
                                                      {"f64", DType::F64},
                                                      {"bf16", DType::BF16},
                                                      {"int", DType::I64},
                                                      {"bool", DType::Bool}};
  auto found = dtypes.find(name.text);
  if (found != dtypes.end())
    return found->second;
  if (name.text == "f16")
    reportHalf(name.loc, diags);
  else
    report(Code::UnknownDType, name.loc, "`" + name.text + "` is not an element type")
        .help("the element types are f32, f64, bf16, int and bool");
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
  auto id = static_cast<ValueId>(model.values.size() - 1);
  positions.erase(id); // a repeat's next iteration uses numbers again
  return id;
}

/// Sizes are products of what a user writes; beyond this bound they could not even be counted.
bool Elaborator::checkElements(const TensorType &type, Location at) {
  constexpr double most = 0x1p53;
  if (type.dims.size() > mostDims) {
    report(Code::TooLarge, at, "a tensor has at most " + std::to_string(mostDims) + " dimensions");
    return false;
  }
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

ValueId Elaborator::converted(ValueId value, DType dtype, Location at) {
  const TensorType type = model.values[value].type;
  if (!isFloat(type.dtype) || type.dtype == dtype)
    return value;
  if (auto known = conversions.find({value, dtype}); known != conversions.end())
    return known->second;
  std::string outer = variable; // the copy is called what it is a copy of
  variable = model.values[value].name;
  Value copy = append(Op(OpKind::Cast, {value}), {dtype, type.dims}, at);
  variable = outer;
  if (!copy.isTensor())
    return value;
  conversions[{value, dtype}] = copy.tensor;
  return copy.tensor;
}

Value Elaborator::emit(Op op, TensorType type, Location at) {
  if (isFloat(type.dtype))
    type.dtype = computeType;
  Value all = emitAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Elaborator::emitAll(Op op, std::vector<TensorType> types, Location at) {
  for (ValueId &operand : op.operands)
    operand = converted(operand, computeType, at);
  return appendAll(std::move(op), std::move(types), at);
}

Value Elaborator::append(Op op, TensorType type, Location at) {
  Value all = appendAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Elaborator::appendAll(Op op, std::vector<TensorType> types, Location at) {
  std::vector<Value> results;
  for (TensorType &type : types) {
    if (!checkElements(type, at))
      return {};
    op.results.push_back(newValue(std::move(type), at));
    results.push_back(Value::ofTensor(op.results.back()));
  }
  op.loc = model.values[op.results[0]].loc;
  op.name = model.values[op.results[0]].name;
  for (Frame *called = frame; called; called = called->caller)
    if (called->decl && called->decl->is<BlockDecl>())
      op.blocks.push_back(nameOf(*called->decl).text);
  notePositions(op);
  region->ops.push_back(std::move(op));
  return Value::ofList(std::move(results));
}

} // namespace titan::sema
