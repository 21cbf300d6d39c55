// The table of discardable attributes, and their verification.

#include "dialects/titan/IR/DiscardableAttributes.h"
#include "base/text/NearestName.h"
#include "dialects/dist/IR/DimensionOrder.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The kind of value of an attribute.
struct Kind {
  llvm::StringLiteral name;
  bool (*accepts)(Attribute value);
};

template <typename... AttrTs> bool isOf(Attribute value) {
  return isa<AttrTs...>(value);
}

template <typename AttrT> bool isArrayOf(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<AttrT>);
}

template <typename AttrT> bool isDictionaryOf(Attribute value) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  return dictionary && llvm::all_of(dictionary, [](NamedAttribute entry) {
           return isa<AttrT>(entry.getValue());
         });
}

bool isPair(Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && numbers.size() == 2;
}

bool isGradKind(Attribute value) {
  auto word = dyn_cast<StringAttr>(value);
  return word && (word == "wgrad" || word == "dgrad");
}

constexpr Kind kUnitKind{"a unit attribute", isOf<UnitAttr>};
constexpr Kind kStringKind{"a string", isOf<StringAttr>};
constexpr Kind kIntegerKind{"an integer", isOf<IntegerAttr>};
constexpr Kind kFloatKind{"a floating-point number", isOf<FloatAttr>};
constexpr Kind kSymbolKind{"a symbol", isOf<FlatSymbolRefAttr>};
constexpr Kind kPairKind{"an array<i64: ...> of two numbers", isPair};
constexpr Kind kIntegersKind{"an array<i64: ...>", isOf<DenseI64ArrayAttr>};
constexpr Kind kInitKind{"a #titan.init", isOf<InitAttr>};
constexpr Kind kDictionaryKind{"a dictionary", isOf<DictionaryAttr>};
constexpr Kind kSettingsKind{"a dictionary of #titan.setting", isDictionaryOf<SettingAttr>};
constexpr Kind kSizesKind{"a dictionary of integers", isDictionaryOf<IntegerAttr>};
constexpr Kind kDataDimsKind{"a #titan.data_dims", isOf<DataDimsAttr>};
constexpr Kind kWeightsKind{"a #titan.weight_map", isOf<WeightMapAttr>};
constexpr Kind kPrecisionKind{"a #titan.precision", isOf<PrecisionAttr>};
constexpr Kind kArrayKind{"an array", isOf<ArrayAttr>};
constexpr Kind kStringsKind{"an array of strings", isArrayOf<StringAttr>};
constexpr Kind kStackedKind{"a unit attribute, an array or a dictionary",
                            isOf<UnitAttr, ArrayAttr, DictionaryAttr>};
constexpr Kind kGradKindKind{"\"wgrad\" or \"dgrad\"", isGradKind};
constexpr Kind kFragmentKind{"a #dist.fragment", isOf<dist::FragmentAttr>};
constexpr Kind kSymbolsKind{"an array of symbols", isArrayOf<FlatSymbolRefAttr>};
constexpr Kind kPeriodKind{"a #titan.period", isOf<PeriodAttr>};
constexpr Kind kTurnKind{"a #titan.turn", isOf<TurnAttr>};
constexpr Kind kAnyKind{"any attribute", [](Attribute) { return true; }};

constexpr Kind kInitFromKind{"\"optional\" or \"partial\"", [](Attribute attribute) {
                               auto text = dyn_cast<StringAttr>(attribute);
                               return text && (text == "optional" || text == "partial");
                             }};

struct Rule {
  llvm::StringLiteral name;
  unsigned holders;
  Kind kind;
};

// The verifiers of phases check more: VerifyAllocRefs.cpp the memory plan, VerifyModelPhase.cpp the
// roles of arguments.
constexpr Rule kRules[] = {
    {attr::kRun, OnModule, kSettingsKind},
    {attr::kRunName, OnModule, kStringKind},
    {attr::kModel, OnModule, kStringKind},
    {attr::kFingerprint, OnModule, kStringKind},
    {attr::kSource, OnModule, kStringKind},
    {attr::kConfig, OnModule, kStringKind},
    {attr::kSizes, OnModule, kSizesKind},
    {attr::kDataDims, OnModule, kDataDimsKind},
    {attr::kAbsentInputs, OnModule, kDictionaryKind},
    {attr::kWeights, OnModule, kWeightsKind},
    {attr::kSumsOverSamples, OnModule, kUnitKind},
    {attr::kFlopsPerToken, OnModule, kFloatKind},
    {attr::kModelFlopsPerToken, OnModule, kFloatKind},
    {attr::kPersistent, OnModule, kArrayKind},
    {attr::kPhase, OnModule, kStringKind},
    {attr::kInserted, OnModule, kStringsKind},
    {attr::kPlugins, OnModule, kStringsKind},

    {attr::kProgram, OnFunction, kStringKind},
    {attr::kOptimizer, OnFunction, kUnitKind},
    {attr::kClip, OnFunction, kFloatKind},
    {attr::kClipValue, OnFunction, kFloatKind},
    {attr::kSkipNonFinite, OnFunction, kUnitKind},
    {attr::kPrecision, OnFunction, kPrecisionKind},
    {attr::kAccumulate, OnFunction, kDictionaryKind},
    {attr::kLossChunks, OnFunction, kIntegerKind},
    {attr::kUncached, OnFunction, kStringKind},
    {attr::kTurn, OnFunction, kTurnKind},
    {attr::kSchedule, OnScalarFunction, kStringsKind},
    {attr::kEvaluates, OnScalarFunction, kStringKind},
    {attr::kBatchValues, OnScalarFunction, kStringsKind},
    {attr::kTransient, OnFunction, kArrayKind},
    {attr::kEvents, OnFunction, kIntegerKind},

    {attr::kInput, OnArgument, kStringKind},
    {attr::kDrawnBelow, OnArgument, kIntegerKind},
    {attr::kIndexRange, OnArgument, kPairKind},
    {attr::kParam, OnArgument, kStringKind},
    {attr::kInit, OnArgument, kInitKind},
    {attr::kRateScale, OnArgument, kFloatKind},
    {attr::kUpdatedBy, OnArgument, kSymbolKind},
    {attr::kScheduledBy, OnArgument, kSymbolKind},
    {attr::kLosses, OnArgument, kStringsKind},
    {attr::kPeriod, OnArgument, kPeriodKind},
    {attr::kOperand, OnArgument, kStringKind},
    {attr::kFrozen, OnArgument, kUnitKind},
    {attr::kInitFrom, OnArgument, kInitFromKind},
    {attr::kBuffer, OnArgument, kUnitKind},
    {attr::kState, OnArgument, kStringKind},
    {attr::kScalar, OnArgument, kStringKind},
    {attr::kCache, OnArgument, kStringKind},
    {attr::kValue, OnArgument, kAnyKind},
    {attr::kStacked, OnArgument | OnResult, kStackedKind},
    {attr::kStage, OnArgument | OnResult | OnRepeat, kIntegerKind},
    {attr::kFirstLayer, OnRepeat, kIntegerKind},
    {attr::kUnpadded, OnArgument | OnResult, kIntegersKind},
    {attr::kMicrobatch, OnArgument, kUnitKind},
    {attr::kStash, OnArgument | OnResult, kStringKind},
    {attr::kStepValue, OnArgument | OnResult, kStringKind},
    {attr::kOutput, OnResult, kStringKind},
    {attr::kUnreduced, OnResult, kUnitKind},
    {attr::kGradient, OnResult, kStringKind},
    {attr::kUpdates, OnResult, kIntegerKind},

    {attr::kRecompute, OnOperation, kUnitKind},
    {attr::kBlocks, OnOperation, kStringsKind},
    {attr::kGradKind, OnOperation, kGradKindKind},
    {attr::kName, OnConstraint, kStringKind},
    {attr::kResultAllocs, OnOperation, kArrayKind},
    {attr::kArgumentAllocs, OnFunction | OnRepeat | OnReturn, kArrayKind},
    {attr::kScratch, OnOperation, kArrayKind},
    {attr::kStackOverlaps, OnRepeat, kArrayKind},

    {dist::kOverridesAttr, OnAxisRules, kArrayKind},
    {dist::kAttentionTimesAttr, OnAxisRules, kStringKind},
    {dist::kOrderAttr, OnAxisRules, kStringKind},
    {dist::kChunkAttr, OnOperation, kStringKind},
    {dist::kWholeAttr, OnOperation, kStringKind},
    {dist::kDroppedAttr, OnOperation, kAnyKind},
    {dist::kFragmentAttr, OnFunction, kFragmentKind},
    {dist::kFragmentsAttr, OnFunction, kSymbolsKind},
    {dist::kProgramAttr, OnFunction, kSymbolKind},
};

/// The word for a holder in diagnostics.
StringRef describe(Holder holder) {
  switch (holder) {
  case OnModule:
    return "a module";
  case OnFunction:
    return "a function";
  case OnArgument:
    return "an argument of a function";
  case OnResult:
    return "a result of a function";
  case OnRepeat:
    return "a repeat";
  case OnReturn:
    return "a return";
  case OnConstraint:
    return "a sharding constraint";
  case OnAxisRules:
    return "axis rules";
  case OnScalarFunction:
    return "a scalar function";
  case OnOperation:
    return "an operation of a function";
  }
  llvm_unreachable("all holders are above");
}

std::string describeAll(unsigned holders) {
  std::string all;
  for (unsigned bit = OnModule; bit <= OnOperation; bit <<= 1)
    if (holders & bit)
      all += (all.empty() ? "" : " or ") + describe(static_cast<Holder>(bit)).str();
  return all;
}

InFlightDiagnostic reportUnknown(Operation *op, StringRef name) {
  std::vector<std::string> known;
  for (const Rule &rule : kRules)
    known.push_back(rule.name.str());
  InFlightDiagnostic error = op->emitError("unknown attribute `") << name << "`";
  if (std::string near = nearestName(name.str(), known); !near.empty())
    error << "; did you mean `" << near << "`?";
  return error;
}

} // namespace

Holder ir::getHolder(Operation *op) {
  if (isa<ModuleOp>(op))
    return OnModule;
  if (isa<FunctionOpInterface>(op))
    return OnFunction;
  if (isa<RepeatOp>(op))
    return OnRepeat;
  if (isa<ShardingConstraintOp>(op))
    return OnConstraint;
  if (isa<dist::AxisRulesOp>(op))
    return OnAxisRules;
  if (isa<ScalarFunctionOp>(op))
    return OnScalarFunction;
  return op->hasTrait<OpTrait::ReturnLike>() && !isa<YieldOp>(op) ? OnReturn : OnOperation;
}

LogicalResult ir::verifyArgumentRole(Operation *op, unsigned argument, NamedAttribute attribute) {
  if (attribute.getName() != attr::kScalar || !op->hasAttr(attr::kOptimizer))
    return success();
  auto word = cast<StringAttr>(attribute.getValue());
  if (word == "lr" || word == "step")
    return success();
  return op->emitError("argument ") << argument << " of an optimizer has `" << attr::kScalar
                                    << "` = " << word << ", expected \"lr\" or \"step\"";
}

LogicalResult ir::verifyResultRole(Operation *op, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || attribute.getName() != attr::kUpdates)
    return success();
  const uint64_t index = cast<IntegerAttr>(attribute.getValue()).getValue().getZExtValue();
  if (index >= function.getNumArguments())
    return op->emitError("result ") << result << " updates argument " << index << " (`"
                                    << attr::kUpdates << "`), which does not exist";
  for (StringRef role : {attr::kInput, attr::kScalar})
    if (Attribute name = function.getArgAttr(index, role))
      return op->emitError("result ")
             << result << " updates argument " << index << " (`" << attr::kUpdates
             << "`), which is `" << role << "` = " << name << " and has no next value";
  return success();
}

LogicalResult ir::verifyDiscardable(Operation *op, Holder holder, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  const Rule *rule = llvm::find_if(kRules, [&](const Rule &each) { return each.name == name; });
  if (rule == std::end(kRules))
    return reportUnknown(op, name);
  // Holders from OnRepeat on are operations of functions.
  bool isOnAnyOp = (rule->holders & OnOperation) && holder >= OnRepeat;
  if (!isOnAnyOp && !(rule->holders & holder))
    return op->emitError("attribute `") << name << "` belongs on " << describeAll(rule->holders)
                                        << ", not on " << describe(holder);
  if (!rule->kind.accepts(attribute.getValue()))
    return op->emitError("attribute `")
           << name << "` must be " << rule->kind.name << ", got " << attribute.getValue();
  return success();
}
