// Runs a program step by step on the interpreter's ranks.

#include "compiler/interpreter/Session.h"

#include "compiler/interpreter/Fragments.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Padding.h"
#include "dialects/titan/Support/Turns.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

/// The named functions of the module, or its first function.
static FailureOr<std::vector<func::FuncOp>> findFunctions(ModuleOp module, StringRef names) {
  std::vector<func::FuncOp> functions;
  if (names.empty()) {
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (functions.empty() && !function.isExternal())
        functions.push_back(function);
    if (functions.empty())
      return module.emitError("the module has no function to run");
    return functions;
  }
  SmallVector<StringRef> list;
  names.split(list, ',');
  for (StringRef name : list) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function || (function.isExternal() && !isFragmented(function))) {
      InFlightDiagnostic error = module.emitError("the module has no program @") << name;
      for (func::FuncOp other : module.getOps<func::FuncOp>())
        error.attachNote(other.getLoc()) << "it has @" << other.getName();
      return error;
    }
    functions.push_back(function);
    if (function.getFunctionType() != functions.front().getFunctionType())
      return function.emitError("programs that run together need equal arguments and results");
  }
  return functions;
}

/// A bound on memory, because one process interprets all ranks.
static constexpr int64_t kMostRanks = 4096;

/// Whether the function has passed the shard phase: one of its types has a sharding.
static bool hasShardings(func::FuncOp function) {
  auto hasSharding = [](Type type) {
    auto tensor = dyn_cast<NamedTensorType>(type);
    return tensor && tensor.getSharding();
  };
  return llvm::any_of(function.getArgumentTypes(), hasSharding) ||
         function
             .walk([&](Operation *op) {
               return llvm::any_of(op->getResultTypes(), hasSharding) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
             })
             .wasInterrupted();
}

/// The turns of the train program `name`; empty if a function has this name.
static SmallVector<func::FuncOp> findTurnPrograms(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> turns;
  if (name.empty() || module.lookupSymbol(name))
    return turns;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(ir::attr::kTurn) && function.getName().starts_with((name + ".").str()))
      turns.push_back(function);
  return turns;
}

FailureOr<Session> Session::createTurns(ModuleOp module, ArrayRef<func::FuncOp> functions,
                                        int64_t autoDegree, const Settings &settings) {
  std::vector<Session> turns;
  for (func::FuncOp function : functions) {
    auto turn = create(module, function.getName(), autoDegree, settings);
    if (failed(turn))
      return failure();
    turns.push_back(std::move(*turn));
  }
  Session session({functions.begin(), functions.end()},
                  std::make_unique<RankMesh>(*turns.front().mesh), settings);
  session.turns = std::move(turns);
  return session;
}

FailureOr<Session> Session::create(ModuleOp module, StringRef programs, int64_t autoDegree,
                                   Settings settings) {
  if (SmallVector<func::FuncOp> turns = findTurnPrograms(module, programs); !turns.empty())
    return createTurns(module, turns, autoDegree, settings);
  auto functions = findFunctions(module, programs);
  if (failed(functions))
    return failure();
  dist::MeshOp meshOp = hasShardings(functions->front()) ? dist::MeshOp::lookup(module) : nullptr;
  auto mesh = std::make_unique<RankMesh>(meshOp, autoDegree);
  if (mesh->getNumRanks() > kMostRanks)
    return module.emitError("the mesh has more ranks than the interpreter has, ") << kMostRanks;
  for (func::FuncOp function : *functions)
    if (failed(isFragmented(function) ? checkFragments(function, *mesh)
                                      : checkTypes(function, *mesh)))
      return failure();
  Session session(std::move(*functions), std::move(mesh), std::move(settings));
  session.arguments.resize(session.mesh->getNumRanks(),
                           std::vector<TensorRef>(session.getFunction().getNumArguments()));
  if (failed(session.makeArguments(/*everyStep=*/false)))
    return failure();
  return session;
}

LogicalResult Session::makeArguments(bool everyStep) {
  for (unsigned i = 0; i < getFunction().getNumArguments(); ++i) {
    std::string kind = getArgumentRole(getFunction(), i).kind;
    if ((kind == "input" || kind == "scalar") != everyStep)
      continue;
    FailureOr<HostTensor> value = makeArgument(getFunction(), i, settings, nextStep);
    if (failed(value))
      return failure();
    setArgument(i, *value);
  }
  return success();
}

void Session::setArgument(unsigned index, const HostTensor &global) {
  auto type = cast<NamedTensorType>(getFunction().getArgumentTypes()[index]);
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank)
    arguments[rank][index] = std::make_shared<HostTensor>(getShard(type, *mesh, rank, global));
}

/// The location of the parameter `name` or of the parameter of state `name`. The location of the
/// function if neither exists.
static Location findLocation(func::FuncOp function, StringRef name) {
  SmallVector<func::FuncOp> bodies{function};
  if (isFragmented(function))
    bodies = dist::getFragments(function);
  for (func::FuncOp body : bodies)
    for (BlockArgument argument : body.getArguments()) {
      const Role role = getArgumentRole(body, argument.getArgNumber());
      if (role.kind == "param" && (role.name == name || name.ends_with("." + role.name)))
        return argument.getLoc();
    }
  return function.getLoc();
}

FailureOr<HostTensor> Session::assembleAt(NamedTensorType type, const RankTensors &tensors,
                                          unsigned index, const std::string &name) {
  SmallVector<const HostTensor *> shards;
  for (const auto &rank : tensors)
    shards.push_back(rank[index].get());
  auto emitError = [&] {
    return mlir::emitError(findLocation(getFunction(), StringRef(name).split(' ').second), name)
           << ": ";
  };
  return assemble(type, *mesh, shards, emitError);
}

FailureOr<HostTensor> Session::getArgument(unsigned index) {
  return assembleAt(cast<NamedTensorType>(getFunction().getArgumentTypes()[index]), arguments,
                    index, getArgumentRole(getFunction(), index).str());
}

/// The family of a result (`Result::family`).
static std::string getFamily(func::FuncOp function, unsigned index) {
  Role role = getResultRole(function, index);
  auto updated = function.getResultAttrOfType<IntegerAttr>(index, ir::attr::kUpdates);
  if (!updated)
    return role.kind == "gradient" ? role.kind : "";
  std::string kind = getArgumentRole(function, updated.getInt()).kind;
  return kind == "state" ? StringRef(role.name).split('.').first.str() : kind;
}

/// Sets an argument that `turn` has updated in all other turns.
LogicalResult Session::passOnUpdate(Session &turn, unsigned argument) {
  const Role role = getArgumentRole(turn.getFunction(), argument);
  const Attribute stage = turn.getFunction().getArgAttr(argument, ir::attr::kStage);
  for (Session &other : turns)
    for (unsigned i = 0; i < other.getFunction().getNumArguments(); ++i) {
      if (&other == &turn || !(getArgumentRole(other.getFunction(), i) == role) ||
          other.getFunction().getArgAttr(i, ir::attr::kStage) != stage)
        continue;
      FailureOr<HostTensor> value = turn.getArgument(argument);
      if (failed(value))
        return failure();
      other.setArgument(i, *value);
    }
  return success();
}

/// Runs the step of one turn and appends its results. The names of outputs get the turn's name as a
/// prefix.
LogicalResult Session::runTurn(Session &turn, bool keep) {
  turn.nextStep = nextStep;
  if (failed(turn.step(keep)))
    return failure();
  locals.resize(turn.locals.size());
  for (auto [rank, values] : llvm::enumerate(turn.locals))
    llvm::append_range(locals[rank], values);
  for (Result result : turn.results) {
    if (result.role.kind == "output")
      result.role.name = (turn.getFunction().getName() + "." + result.role.name).str();
    auto updated =
        result.function.getResultAttrOfType<IntegerAttr>(result.index, ir::attr::kUpdates);
    if (updated && keep && failed(passOnUpdate(turn, updated.getInt())))
      return failure();
    results.push_back(std::move(result));
  }
  return success();
}

LogicalResult Session::stepTurns(bool keep) {
  results.clear();
  locals.clear();
  for (Session &turn : turns) {
    auto steps = turn.getFunction()->getAttrOfType<ir::TurnAttr>(ir::attr::kTurn);
    if (ir::getTurn(steps).runsIn(nextStep) && failed(runTurn(turn, keep)))
      return failure();
  }
  nextStep += keep;
  return success();
}

LogicalResult Session::step(bool keep) {
  if (!turns.empty())
    return stepTurns(keep);
  if (failed(makeArguments(/*everyStep=*/true)))
    return failure();
  FailureOr<RankTensors> run = isFragmented(getFunction())
                                   ? interpretFragments(getFunction(), *mesh, arguments)
                                   : interpret(functions, *mesh, arguments);
  if (failed(run))
    return failure();
  locals = std::move(*run);
  results.clear();
  func::FuncOp function = getFunction();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto type = cast<NamedTensorType>(function.getResultTypes()[i]);
    Role role = getResultRole(function, i);
    FailureOr<HostTensor> global = assembleAt(type, locals, i, role.str());
    if (failed(global))
      return failure();
    auto updated = function.getResultAttrOfType<IntegerAttr>(i, ir::attr::kUpdates);
    if (updated && keep)
      setArgument(updated.getInt(), *global);
    if (Attribute unpadded = function.getResultAttr(i, ir::attr::kUnpadded)) {
      type = getUnpadded(type, unpadded);
      auto emitError = [&] { return function.emitError(role.str()) << ": "; };
      global = removePadding(*global, type.getShape(), emitError);
      if (failed(global))
        return failure();
    }
    results.push_back({role, getFamily(function, i), type, std::move(*global), function, i});
  }
  nextStep += keep;
  return success();
}

const Result *Session::find(const Role &role) const {
  for (const Result &result : results)
    if (result.role == role)
      return &result;
  return nullptr;
}
