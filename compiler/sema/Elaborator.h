// Turns one model, with all its arguments given, into a checked program: an abstract interpreter of
// the syntax tree in which numbers are computed and tensors are recorded.
//
// Calls of functions and blocks are inlined as they are met, so every type is known when it is
// needed and an error can name both the callee's place and the call's. A `repeat` is interpreted
// once for every index, because what it does may depend on it; of equal bodies one is kept.
// Mistakes give Error values, which spread silently, and the interpretation goes on.
//
// One class, in several files: Statements, Anchors, Expressions, Calls, Callables, Arguments,
// Builtins, Where, Lists, Attention, Ordering, Random, Indexing, Reshaping, Repeat, Carried,
// Parameters, Buffers, DimNames, Append, Reports.
#ifndef TITAN_COMPILER_SEMA_ELABORATOR_H
#define TITAN_COMPILER_SEMA_ELABORATOR_H

#include "compiler/sema/Call.h"
#include "compiler/sema/Positions.h"

#include <functional>
#include <set>

namespace titan::sema {

/// A model's argument, from a specialisation, a run's `with`, or `--set`.
struct Argument {
  Value value;
  Location loc;
};

/// What a run says about a model: the dimensions that its data have, and the element types.
struct Specialisation {
  std::map<std::string, Argument> arguments;
  std::map<std::string, Argument> dataDims; ///< batch, seq
  DType params = DType::F32;
  DType compute = DType::F32;
  size_t *work = nullptr; ///< expressions evaluated so far, by all that share the count
};

class CallArgs;

class Elaborator {
public:
  /// Expressions that one invocation of the compiler evaluates: some seconds' worth.
  static constexpr size_t mostWork = 10'000'000;
  static constexpr size_t mostIterations = 200'000; ///< of a program's repeats
  static constexpr size_t mostDims = 64;            ///< of a tensor

  Elaborator(const Library &library, DiagnosticEngine &diags, Model &model)
      : library(library), diags(diags), model(model) {}

  /// `decl` is a model with a body. False after an error.
  bool run(const Symbol &decl, const Specialisation &spec);

  /// A compile-time expression outside of any model: the value of a setting.
  static Value evalConstant(const syntax::Expr &expr, const Library &library, const Unit &unit,
                            DiagnosticEngine &diags);
  /// How a parameter starts, said outside of any model: a number, or a distribution.
  static std::optional<Initialiser> evalInitialiser(const syntax::Expr &expr,
                                                    const Library &library, const Unit &unit,
                                                    DiagnosticEngine &diags);

private:
  Elaborator(const Library &library, DiagnosticEngine &diags, Model &scratch, Frame &top);

  friend class CallArgs;
  using Expected = const DimSet *; ///< declared dimensions that `@` may rely on; null: none

  // Statements.cpp
  void elaborate(const syntax::Body &body);
  void statement(const syntax::Stmt &stmt);
  void dims(const syntax::DimsStmt &stmt);
  void input(const syntax::InputStmt &stmt);
  void output(const syntax::OutputStmt &stmt);
  void let(const syntax::LetStmt &stmt);
  void letOne(const syntax::LetStmt::Target &target, const syntax::Expr &value);
  void bindLet(const syntax::Name &name, Value value);
  void assign(const syntax::AssignStmt &stmt);
  void assignTo(const syntax::Name &name, Value value, Location valueLoc);
  void setLoss(const syntax::AssignStmt &stmt);
  void giveBack(const syntax::ReturnStmt &stmt);
  void branch(const syntax::IfStmt &stmt);
  void island(const syntax::IslandStmt &stmt);

  // Anchors.cpp
  Value anchor(Value value, const DimSet &declared, Location declaredAt, Location valueLoc);
  /// What a map calls a value of this name here: behind the repeats and calls around it.
  std::string nameForMaps(const std::string &name) const;

  // Parameters.cpp
  void param(const syntax::ParamStmt &stmt);
  bool refuseParameter(const syntax::ParamStmt &stmt, const char *what);
  std::optional<Initialiser> initialiser(const syntax::ParamStmt &stmt);
  std::optional<Initialiser> constantInitialiser(const syntax::Expr &expr);
  bool isFrozen(const syntax::ParamStmt &stmt);
  std::optional<Initialiser> drawn(const syntax::CallExpr &call);
  std::string parameterName(const std::string &name) const;
  std::optional<uint32_t> recordParameter(const syntax::ParamStmt &stmt, Parameter fresh);
  void finishParameter(uint32_t index);

  // Buffers.cpp
  std::optional<DType> storedType(const syntax::ParamStmt &stmt);
  bool mayStart(const syntax::ParamStmt &stmt, DType dtype, const Initialiser &init);
  void update(const syntax::UpdateStmt &stmt);
  Value nextValue(const syntax::UpdateStmt &stmt, const TensorType &type);
  bool mayUpdate(const syntax::UpdateStmt &stmt, const Binding &buffer);
  bool refuseAssignment(const syntax::Name &name, const Binding &binding);
  /// Reports buffers that nothing changes.
  void checkUpdated();

  // Carried.cpp
  std::vector<std::string> carriedNames(const syntax::Body &body);
  /// Numbers that the repeat's body turns into tensors become such before it, so that they are
  /// carried.
  bool startAsTensors(const syntax::RepeatStmt &stmt, DimId dim);
  bool startAsTensor(const std::string &name, const TensorType &type,
                     const syntax::RepeatStmt &stmt);

  // Repeat.cpp
  void repeat(const syntax::RepeatStmt &stmt);
  struct Iteration {
    size_t firstValue = 0; ///< of those that belong to the iteration
    Region body;
    std::vector<Value> results;
  };
  bool iterate(const syntax::RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
               int64_t index, Iteration &result);
  bool addVariant(const syntax::RepeatStmt &stmt, std::vector<Iteration> &variants, Iteration next,
                  std::vector<int64_t> &table);
  void finishRepeat(const syntax::RepeatStmt &stmt, const std::vector<std::string> &carried,
                    DimId dim, std::vector<Iteration> variants, std::vector<int64_t> table);

  // Expressions.cpp
  Value eval(const syntax::Expr &expr, Expected expected = nullptr);
  Value evalName(const syntax::NameExpr &expr);
  Value evalUnary(const syntax::UnaryExpr &expr, Expected expected);
  Value evalBinary(const syntax::BinaryExpr &expr, Expected expected);
  Value evalLogic(const syntax::BinaryExpr &expr);
  Value evalIf(const syntax::IfExpr &expr, Expected expected);
  Value evalMatch(const syntax::MatchExpr &expr, Expected expected);
  Value evalTyped(const syntax::TypedExpr &expr);
  Value contraction(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs,
                    Expected expected);
  Value arithmetic(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value finite(double number, Location at);
  Value power(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value compare(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  std::optional<bool> condition(const syntax::Expr &expr);
  std::optional<bool> truthOf(const Value &value, Location at);

  // Lists.cpp
  using Combine = std::function<Value(const Value &, const Value &)>;
  Value mapped(const Value &list, const std::function<Value(const Value &)> &each);
  /// Of two lists of numbers, or of one and a number; nothing if they are something else.
  std::optional<Value> zipped(const Value &lhs, const Value &rhs, Location at, const Combine &each);
  Value builtinRange(CallArgs &args);
  Value builtinElement(CallArgs &args);
  Value builtinLength(CallArgs &args);

  /// Joins by name; reports an outer product. `word` is the function's name in the program, `expr`
  /// the operator that calls for it, if one does.
  Value elementwise(const char *word, const Value &lhs, const Value &rhs, Location at,
                    Location lhsLoc, Location rhsLoc, const syntax::BinaryExpr *expr = nullptr);
  Value unary(const char *word, const Value &operand, Location at);
  Value constantLike(double number, const TensorType &type, Location at);

  // Indexing.cpp
  Value evalIndex(const syntax::IndexExpr &expr);
  Value take(const Value &base, const syntax::IndexItem &item, DimId dim);
  Value slice(const Value &base, const syntax::IndexItem &item, DimId dim);
  Value renamed(const Value &base, const syntax::IndexItem &item, DimId dim);
  /// Whether all that is known of an index lies within a dimension; reports otherwise.
  bool indexFits(const Value &index, DimId dim, Location at);

  // Calls.cpp
  Value evalCall(const syntax::CallExpr &expr);
  Value invoke(const Call &call);
  Value callDecl(const Call &call);
  bool reportRecursion(const Call &call, const Frame *namedIn);
  void reportUnknownCallee(const syntax::CallExpr &expr);
  Value runBody(Frame &frame, const Call &call);
  Value collectResults(const std::vector<syntax::Name> &results, Frame &callee);

  // Callables.cpp
  bool reportAmbiguous(const syntax::Path &path);
  /// What a path names that can be called; nothing, without a message, if it is no such thing.
  Callee calleeOf(const syntax::Path &path) const;
  /// A name that is called as a value that the name has; null if it has none such.
  std::shared_ptr<const Callable> callableNamed(const syntax::Path &path);
  Value callableOf(Callee callee, std::vector<Actual> given, std::vector<unsigned> home,
                   Location at);
  /// A function's or a block's name without parentheses.
  std::optional<Value> evalCallee(const syntax::NameExpr &expr);
  /// The arguments of a call, put into the places that a call in part left open; nothing after a
  /// report.
  std::optional<Call> readCall(const syntax::CallExpr &expr);
  bool fillOpen(const Callable &callable, std::vector<Actual> &args, Location at);
  bool evaluateNow(Actual &actual, bool ofBuiltin);
  Value partOf(Call call);
  std::vector<unsigned> framesAround() const;
  Frame *frameOf(const Callable &callable) const;
  /// Reports a function or block that stands where a number or a tensor is meant.
  bool refuseCallable(const Value &value, Location at);

  // Arguments.cpp
  Value valueOf(const Actual &actual);
  bool bindFormals(const std::vector<syntax::Formal> &formals, const Call &call, Frame &frame);
  bool bindCallName(const std::vector<syntax::Formal> &formals, const Call &call,
                    std::vector<bool> &used, Frame &callee);
  bool bindDimFormal(const syntax::Formal &formal, const Call &call, std::vector<bool> &used,
                     Frame &frame);
  bool bindValueFormal(const syntax::Formal &formal, const Call &call, std::vector<bool> &used,
                       Frame &frame);
  void reportMissing(const syntax::Formal &formal, const Call &call);
  void checkFormalType(const syntax::Formal &formal, Value &value, Location at, Frame &frame);
  bool reportUnknownKeywords(const std::vector<syntax::Formal> &formals, const Call &call,
                             const std::vector<bool> &used);
  bool reportUnusedArgs(const std::vector<syntax::Formal> &formals, const Call &call,
                        const std::vector<bool> &used);

  // Reshaping.cpp
  /// These take dimensions as they are written, so they are no values.
  static const std::set<std::string> &reshapingFunctions();
  Value callReshaping(const syntax::CallExpr &expr);
  DimId newOrKnown(const syntax::Name &name, DimId from, int64_t size);
  Value split(const Value &base, DimId dim, const syntax::DimBinding &binding);
  Value merge(Value base, const std::vector<DimId> &from, const syntax::DimBinding &binding);
  Value concat(const syntax::CallExpr &expr);

  // Builtins.cpp
  using Builtin = Value (Elaborator::*)(CallArgs &);
  static const std::map<std::string, Builtin> &builtins();
  Value builtinUnary(CallArgs &args);
  Value builtinFloat(CallArgs &args);
  Value builtinMaxMin(CallArgs &args);
  Value builtinReduce(CallArgs &args);
  Value builtinWhere(CallArgs &args);
  Value builtinMean(CallArgs &args);
  Value builtinIndex(CallArgs &args);
  Value builtinStopGradient(CallArgs &args);
  Value builtinExpand(CallArgs &args);
  Value builtinRotary(CallArgs &args);

  // Attention.cpp
  Value builtinAttention(CallArgs &args);
  Value builtinWindow(CallArgs &args);
  Value builtinDocument(CallArgs &args);
  bool checkAttention(CallArgs &args);
  bool addDocuments(CallArgs &args, const Mask &mask, Op &op);
  Value addSink(CallArgs &args, const Value &result, const Value &logSum);
  /// A mask, or what stands for one; nothing otherwise.
  static std::optional<Mask> asMask(const Value &value);
  Value intersect(const Mask &lhs, const Mask &rhs, Location at);

  // Ordering.cpp
  Value topK(const syntax::CallExpr &expr);
  Value builtinCumulativeSum(CallArgs &args);
  Value builtinScatter(CallArgs &args);

  // Random.cpp
  Value builtinRandom(CallArgs &args);
  Value builtinDropout(CallArgs &args);

  Value reduce(const char *word, const Value &operand, const std::vector<DimId> &over, Location at);

  // Positions.cpp
  void notePositions(const Op &op);

  // DimNames.cpp; Reports.cpp: what is said of names
  Binding *lookup(const syntax::Name &name) { return frame->scope->find(name.text); }
  using Candidates = std::function<std::vector<std::string>()>;
  /// Proposes the nearest candidate and shows where that one comes from. They are asked for only
  /// while reports are still shown: collecting them for each of many mistakes would take long.
  void propose(Diagnostic &diag, const syntax::Path &path, const Candidates &candidates);
  void propose(Diagnostic &diag, const syntax::Name &name, const Candidates &candidates);
  Diagnostic &reportUnknownName(const syntax::Name &name, Location at);
  Diagnostic &reportUnknownName(const syntax::Path &path, Location at);
  /// Reports `x.shape`, where `x` is a value; false if it is none.
  bool reportMember(const syntax::Path &path);
  /// The dimensions that a name stands for; empty after a report.
  std::vector<DimId> dimsOf(const syntax::Path &path);
  std::optional<DimId> dimOf(const syntax::Path &path);
  /// The dimensions behind `over` or `along`, each once; empty after a report.
  std::vector<DimId> dimsAfter(const syntax::Arg &arg);
  void reportUnknownDim(const syntax::Name &name);
  std::vector<DimId> asDims(const std::string &name, Binding &binding, Location at);
  Binding *findDimInCallers(const std::string &name, Frame *from);
  /// Null after a report.
  std::optional<DimSet> dimSet(const syntax::DimList &list);
  DimId derivedDim(DimId from, const std::string &name, int64_t size, Location at);
  /// After `as`: a name that is a dimension of this size already is that one (`k[keys as seq]` goes
  /// back, two parameters may both have `embed as out`), else it is a new one.
  DimId namedDim(const syntax::Name &name, DimId from, int64_t size, Location at);
  std::string print(const DimSet &dims) const;
  std::string printSizes(const DimSet &dims) const;
  std::string quote(const DimSet &dims) const;
  std::optional<DType> dtypeOf(const syntax::Name &name);
  /// False, once reported, when the program grows beyond all reason, or the work on it.
  bool withinBounds(Location at);

  // Append.cpp
  const TensorType &typeOf(const Value &value) const { return model.values[value.tensor].type; }
  bool checkElements(const TensorType &type, Location at);
  ValueId newValue(TensorType type, Location at);
  /// Appends the op with one result of this type. It computes in the region's element type:
  /// floating-point operands are converted to that first, and a floating-point result has it.
  Value emit(Op op, TensorType type, Location at);
  /// Likewise with several results, as a list, of exactly these types.
  Value emitAll(Op op, std::vector<TensorType> types, Location at);
  /// Appends the op as it is.
  Value append(Op op, TensorType type, Location at);
  Value appendAll(Op op, std::vector<TensorType> types, Location at);
  /// A floating-point tensor as `dtype`, converted once for all uses; anything else as it is.
  ValueId converted(ValueId value, DType dtype, Location at);
  /// Where element types of operands may differ: floating-point ones are converted.
  static bool mayJoin(DType a, DType b) { return a == b || (isFloat(a) && isFloat(b)); }
  Location placeOf(Location at) const;
  /// Adds "called from here" for every call that is being inlined.
  void noteCalls(Diagnostic &diag) const;
  Diagnostic &report(Code code, Location at, std::string message);
  /// Notes what dimensions an operand has, and where it was declared if it is a name.
  void noteOperand(Diagnostic &diag, const syntax::Expr &expr, const DimSet &dims);
  bool expectTensor(const Value &value, Location at, const char *what);

  const Library &library;
  DiagnosticEngine &diags;
  Model &model;
  Specialisation spec;
  Frame *frame = nullptr;
  Region *region = nullptr;
  DType computeType =
      DType::F32; ///< of the region at hand: the run's, or that of the innermost `in`
  std::map<std::pair<ValueId, DType>, ValueId> conversions; ///< that are visible here
  std::string variable; ///< that the expression at hand is computed for
  struct Loop {
    DimId dim;
    int64_t index;
  };
  std::vector<Loop> loops;
  std::map<std::string, uint32_t> parameterIndex;
  /// For each parameter the iterations that have declared it: one index per enclosing repeat.
  std::vector<std::vector<std::vector<int64_t>>> instances;
  std::map<ValueId, Positions> positions; ///< of integer tensors that positions alone decide
  std::map<std::tuple<DimId, std::string, int64_t, uint32_t, uint32_t>, DimId> derived;
  unsigned depth = 0;      ///< of calls
  unsigned frames = 0;     ///< calls so far
  size_t declarations = 0; ///< of parameters, those of a repeat in each iteration
  size_t iterations = 0;   ///< of all repeats
  bool tooLarge = false, uncountable = false; ///< said once of a program, of its tensors
  size_t ownWork = 0;
  bool declarationFailed = false; ///< the value at hand has declared dimensions, but wrong ones
};

} // namespace titan::sema

#endif
