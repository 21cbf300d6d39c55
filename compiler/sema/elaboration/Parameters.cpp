#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

bool Parameters::isFrozen(const ParamStmt &stmt) {
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
    frozen = elaboration.expressions.condition(*option.value).value_or(false);
  }
  return frozen;
}

/// Refuses parameters in a function, once: it should be a block.
bool Parameters::refuseInFunction(const ParamStmt &stmt, const char *what) {
  if (!context.frame->decl->is<FnDecl>())
    return false;
  if (!context.frame->hasErroneousParameter)
    report(Code::MisplacedStatement, stmt.loc,
           std::string("a function has no ") + what + "s of its own")
        .help("make it a block, or pass the tensor in");
  context.frame->hasErroneousParameter = true;
  context.frame->returned = Value();
  return true;
}

/// Refuses a parameter along the dimension of samples: an element would belong to a position in a
/// shuffled batch.
bool Parameters::refuseSamples(const ParamStmt &stmt, const DimSet &dims) {
  const Frame *top = context.frame;
  while (top->caller)
    top = top->caller;
  Binding *samples = top->scope->find(spec.dataDims.samples);
  if (!samples || !spec.sizes.count(spec.dataDims.samples) || samples->dims.size() != 1)
    return false;
  for (DimId dim : dims) {
    if (model.dims[dim].extent != samples->dims[0])
      continue;
    report(Code::MisplacedStatement, stmt.type.dims->loc,
           "a parameter cannot have `" + model.dims[dim].name +
               "`, the dimension of samples: its elements would belong to places in a batch")
        .help("leave `" + model.dims[dim].name +
              "` out: all samples share the parameter; for one row per sample of the data, index a "
              "table by a number that the data give");
    return true;
  }
  return false;
}

void Parameters::declare(const ParamStmt &stmt) {
  const char *what = stmt.isBuffer ? "buffer" : "parameter";
  if (refuseInFunction(stmt, what))
    return;
  Value value;
  context.variable = stmt.name.text;
  std::optional<DimSet> dims = stmt.type.dims ? elaboration.dims.dimSet(*stmt.type.dims) : DimSet();
  if (dims && !stmt.isBuffer && refuseSamples(stmt, *dims))
    dims = std::nullopt;
  std::optional<Initialiser> init = elaboration.initialisers.of(stmt);
  bool frozen = isFrozen(stmt);
  std::optional<DType> dtype = elaboration.buffers.storedType(stmt);
  if (dims && init && dtype && elaboration.buffers.checkInitialiser(stmt, *dtype, *init)) {
    Parameter fresh;
    fresh.type = {*dtype, *dims};
    fresh.initialisers = {*init};
    fresh.frozen = frozen;
    fresh.isBuffer = stmt.isBuffer;
    fresh.loc = stmt.name.loc;
    if (adapter) {
      fresh.firstRule = adapter->rule + 1;
      fresh.initFrom = "optional";
    }
    value = existing ? findExisting(stmt) : addToModel(stmt, std::move(fresh));
    if (value.isTensor() && !stmt.isBuffer)
      value = elaboration.adaptation.apply(stmt.name, value);
  }
  context.variable.clear();
  context.frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, what});
}

Value Parameters::addToModel(const ParamStmt &stmt, Parameter fresh) {
  ++declarations;
  TensorType type = fresh.type;
  std::vector<int64_t> instance;
  if (!addEnclosingRepeats(stmt, fresh, instance))
    return {};
  std::optional<uint32_t> index = findOrCreate(stmt, std::move(fresh), std::move(instance));
  if (!index)
    return {};
  Op op(OpKind::Parameter);
  op.index = *index;
  return elaboration.recorder.append(std::move(op), type, stmt.name.loc);
}

Value Parameters::findExisting(const ParamStmt &stmt) {
  const std::string name = *existing + context.prefix(model.dims).text + stmt.name.text;
  for (uint32_t i = 0; i < model.parameters.size(); ++i)
    if (const Parameter &each = model.parameters[i]; each.name == name) {
      ++declarations;
      Op op(OpKind::Parameter);
      op.index = i;
      return elaboration.recorder.append(std::move(op), each.type, stmt.name.loc);
    }
  return {};
}

std::optional<uint32_t> Parameters::findIndex(const std::string &name) const {
  auto found = record.index.find(context.prefix(model.dims).text + name);
  return found == record.index.end() ? std::nullopt : std::optional(found->second);
}

/// Records the repeats around a parameter and the current iteration of each.
bool Parameters::addEnclosingRepeats(const ParamStmt &stmt, Parameter &fresh,
                                     std::vector<int64_t> &instance) {
  for (const Loop &loop : context.numberingLoops()) {
    if (std::find(fresh.repeats.begin(), fresh.repeats.end(), loop.dim) != fresh.repeats.end()) {
      report(Code::DimensionTwice, stmt.name.loc,
             "parameter `" + stmt.name.text + "` would have dimension `" +
                 model.dims[loop.dim].name + "` twice: two enclosing repeats run over it")
          .help("declare another dimension for one of the repeats: `dims inner = ...`");
      return false;
    }
    fresh.repeats.push_back(loop.dim);
    instance.push_back(loop.index);
  }
  return true;
}

/// The first iteration with the parameter creates it; later ones add their initial values.
std::optional<uint32_t> Parameters::findOrCreate(const ParamStmt &stmt, Parameter fresh,
                                                 std::vector<int64_t> instance) {
  NamePrefix prefix = context.prefix(model.dims);
  fresh.name = prefix.text + stmt.name.text;
  fresh.repeatSegments = std::move(prefix.repeatSegments);
  auto [entry, isNew] =
      record.index.try_emplace(fresh.name, static_cast<uint32_t>(model.parameters.size()));
  if (isNew) {
    model.parameters.push_back(std::move(fresh));
    record.instances.push_back({std::move(instance)});
    record.sharedCalls.push_back(getSharedCall());
    return entry->second;
  }
  if (const unsigned creator = record.sharedCalls[entry->second];
      creator && getSharedCall() && creator != getSharedCall())
    return findShared(stmt, entry->second, fresh, instance);
  Parameter &known = model.parameters[entry->second];
  std::vector<std::vector<int64_t>> &seen = record.instances[entry->second];
  // A second repeat over the same dimension runs its iterations again.
  if (std::find(seen.begin(), seen.end(), instance) != seen.end() ||
      known.repeats != fresh.repeats || known.loc != fresh.loc) {
    report(Code::ParameterTwice, stmt.name.loc,
           "two parameters would have the name `" + fresh.name + "`")
        .note(known.loc, "the other one is here")
        .help("for separate parameters name the second call: `Block(x, named = \"second\")` "
              "prefixes their names with `second.`; to share parameters, write `shared = "
              "\"name\"` in both calls");
    context.frame->hasErroneousParameter =
        context.frame->caller; // other names of the call clash, too
    return std::nullopt;
  }
  if (!mayRecur(stmt, known, fresh, instance))
    return std::nullopt;
  known.initialisers.push_back(fresh.initialisers[0]);
  seen.push_back(std::move(instance));
  return entry->second;
}

unsigned Parameters::getSharedCall() const {
  const Frame *call = context.sharedCall();
  return call ? call->id : 0;
}

std::optional<uint32_t> Parameters::findShared(const ParamStmt &stmt, uint32_t index,
                                               const Parameter &fresh,
                                               const std::vector<int64_t> &instance) {
  const Parameter &known = model.parameters[index];
  const auto &instances = record.instances[index];
  auto hasEqualSize = [&](DimId a, DimId b) { return model.dims[a].size == model.dims[b].size; };
  const bool isRepeatedAlike = std::ranges::equal(known.repeats, fresh.repeats, hasEqualSize);
  if (known.loc == fresh.loc && known.type == fresh.type && known.frozen == fresh.frozen &&
      isRepeatedAlike && std::find(instances.begin(), instances.end(), instance) != instances.end())
    return index;
  report(Code::SharedDiffers, stmt.name.loc,
         "calls that share parameters declare `" + fresh.name + "` differently: " +
             (known.type == fresh.type ? "in other iterations, or otherwise"
                                       : "with " + printSizes(known.type.dims) + " and with " +
                                             printSizes(fresh.type.dims)))
      .note(known.loc, "the first of these calls declares it here")
      .help("give all calls of this name equal arguments that decide on parameters, or share "
            "another name");
  context.frame->hasErroneousParameter = context.frame->caller;
  return std::nullopt;
}

/// Whether the parameter of an iteration may equal that of earlier iterations; reports otherwise.
bool Parameters::mayRecur(const ParamStmt &stmt, const Parameter &known, const Parameter &fresh,
                          const std::vector<int64_t> &instance) {
  if (known.type != fresh.type) {
    report(Code::IterationsDiffer, stmt.name.loc,
           "parameter `" + stmt.name.text + "` has " + printSizes(known.type.dims) +
               " in one iteration of the repeat and " + printSizes(fresh.type.dims) +
               " in another");
    return false;
  }
  const Initialiser &first = known.initialisers[0], &next = fresh.initialisers[0];
  if (known.frozen == fresh.frozen && first.kind == next.kind && first.cut == next.cut)
    return true;
  report(Code::IterationsDiffer, stmt.name.loc,
         "parameter `" + stmt.name.text + "` has another kind of initial value in iteration " +
             std::to_string(instance.back()) + " of the repeat")
      .help("only the scale may differ from iteration to iteration");
  return false;
}

void Parameters::finishFrom(size_t first) {
  for (size_t i = first; i < model.parameters.size(); ++i)
    finish(model.parameters[i], record.instances[i]);
}

void Parameters::finish(Parameter &parameter, const std::vector<std::vector<int64_t>> &instances) {
  std::vector<Initialiser> &all = parameter.initialisers;
  if (std::all_of(all.begin(), all.end(), [&](const Initialiser &one) { return one == all[0]; }))
    all.resize(1);
  size_t product = 1;
  for (size_t level = 0; level < parameter.repeats.size(); ++level) {
    std::set<int64_t> iterations;
    for (const std::vector<int64_t> &instance : instances)
      iterations.insert(instance[level]);
    parameter.iterations.emplace_back(iterations.begin(), iterations.end());
    product *= iterations.size();
  }
  if (product != instances.size())
    report(Code::IterationsDiffer, parameter.loc,
           "parameter `" + parameter.name +
               "` exists in different iterations of the inner repeat, depending on the outer "
               "iteration")
        .help("declare it in the same iterations of the inner repeat in every outer iteration, or "
              "name the calls of the two cases differently (`named = ...`)");
}

} // namespace titan::sema
