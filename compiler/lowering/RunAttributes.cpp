#include "compiler/lowering/RunAttributes.h"
#include "compiler/sema/program/Fingerprint.h"
#include "compiler/sema/runs/ParameterRules.h"
#include "compiler/sema/runs/Turns.h"

#include "base/data/Feed.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

using namespace mlir;

namespace titan::lowering {

/// The dimensions called `name` of the outermost repeats. A block may have a different dimension of
/// this name for each call.
static SmallVector<Attribute> listPipelinedDims(const sema::Model &model, const std::string &name,
                                                const Translation &translation) {
  llvm::SetVector<Attribute> dims;
  for (const sema::Op &op : model.body.ops)
    if (op.kind == sema::OpKind::Repeat && model.dims[op.dims[0]].name == name)
      dims.insert(translation.dimName(op.dims[0]));
  return dims.takeVector();
}

void addMesh(const sema::CheckedRun &run, OpBuilder &builder, const Translation &translation) {
  if (run.mesh.axes.empty())
    return;
  SmallVector<Attribute> axes;
  for (const sema::Axis &axis : run.mesh.axes)
    axes.push_back(dist::MeshAxisAttr::get(builder.getContext(), builder.getStringAttr(axis.name),
                                           axis.degree));
  mlir::Location loc = translation.loc(run.mesh.axes[0].loc, "");
  builder.create<dist::MeshOp>(loc, "mesh", builder.getArrayAttr(axes));
  auto list = [&](const std::vector<std::string> &names) {
    return builder.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end()));
  };
  auto buildOverrides = [&](const sema::Axis &axis) {
    SmallVector<Attribute> all;
    for (const sema::MeshOverride &entry : run.mesh.overrides) {
      if (entry.axis != axis.name)
        continue;
      StringRef kind = entry.ofParameters ? "parameters" : "values";
      SmallVector<NamedAttribute> fields{builder.getNamedAttr("of", builder.getStringAttr(kind)),
                                         builder.getNamedAttr("names", list(entry.tensors))};
      if (entry.splits)
        fields.push_back(builder.getNamedAttr("shards", list(*entry.splits)));
      if (entry.stores)
        fields.push_back(builder.getNamedAttr("stores", list(*entry.stores)));
      all.push_back(builder.getDictionaryAttr(fields));
    }
    return all;
  };
  auto getMethod = [](const sema::Axis &axis) {
    switch (axis.attention) {
    case sema::AttentionMethod::Gather:
      return dist::AttentionMethod::Gather;
    case sema::AttentionMethod::Ring:
      return dist::AttentionMethod::Ring;
    case sema::AttentionMethod::AllToAll:
      return dist::AttentionMethod::AllToAll;
    case sema::AttentionMethod::Auto:
      return dist::AttentionMethod::Auto;
    }
    llvm_unreachable("every method is handled");
  };
  for (const sema::Axis &axis : run.mesh.axes) {
    auto rules = builder.create<dist::AxisRulesOp>(
        translation.loc(axis.loc, axis.name), axis.name, list(axis.splits), list(axis.fallback),
        list(axis.stores), axis.pads.empty() ? ArrayAttr() : list(axis.pads), axis.isHeadTail,
        getMethod(axis));
    if (SmallVector<Attribute> overrides = buildOverrides(axis); !overrides.empty())
      rules->setAttr(dist::kOverridesAttr, builder.getArrayAttr(overrides));
  }
  if (const std::optional<sema::Pipeline> &pipeline = run.mesh.pipeline)
    builder.create<dist::PipelineOp>(
        translation.loc(pipeline->loc, pipeline->axis), builder.getStringAttr(pipeline->axis),
        builder.getArrayAttr(listPipelinedDims(run.train, pipeline->dim, translation)),
        builder.getDenseI64ArrayAttr(pipeline->layersPerStage),
        pipeline->isByCost ? builder.getUnitAttr() : UnitAttr(),
        builder.getStringAttr(pipeline->schedule),
        builder.getI64IntegerAttr(pipeline->microbatches));
}

namespace {

Attribute makeAttribute(const sema::Value &value, OpBuilder &builder) {
  using Kind = sema::Value::Kind;
  switch (value.kind) {
  case Kind::Int:
    return builder.getI64IntegerAttr(value.integer);
  case Kind::Float:
    return builder.getF64FloatAttr(value.real);
  case Kind::List: {
    SmallVector<Attribute> elements;
    for (const sema::Value &element : value.elements)
      elements.push_back(makeAttribute(element, builder));
    return builder.getArrayAttr(elements);
  }
  case Kind::String:
    return builder.getStringAttr(value.text);
  default:
    return builder.getStringAttr(value.print());
  }
}

/// The exclusive bound of the indices that a model accepts from the inputs that `isSelected`
/// accepts.
class IndexBound {
public:
  IndexBound(const sema::Model &model, llvm::function_ref<bool(const sema::Input &)> isSelected)
      : model(model), isSelected(isSelected) {
    visit(model.body);
  }

  /// The smallest dimension that the inputs index, or `all` if they index none.
  int64_t sizeOr(int64_t all) const { return least.value_or(all); }

private:
  /// Follows the inputs through operations that only move or choose elements.
  void visit(const sema::Region &region) {
    for (const sema::Op &op : region.ops) {
      if (isInput(op) || (isMove(op.kind) && isIndex.count(op.operands[0])) || selectsIndex(op))
        isIndex.insert(op.results[0]);
      const bool isIndexed = op.kind == sema::OpKind::Gather || op.kind == sema::OpKind::Scatter;
      if (isIndexed && isIndex.count(op.operands[1]))
        least = std::min(least.value_or(INT64_MAX), model.dims[op.dims[0]].size);
      for (const sema::Region &body : op.body)
        visit(body);
    }
  }

  bool isInput(const sema::Op &op) const {
    return op.kind == sema::OpKind::Input &&
           isSelected(model.inputs[static_cast<size_t>(op.index)]);
  }

  static bool isMove(sema::OpKind kind) {
    using Kind = sema::OpKind;
    return kind == Kind::Rename || kind == Kind::Slice || kind == Kind::Pad ||
           kind == Kind::Split || kind == Kind::Merge || kind == Kind::Expand ||
           kind == Kind::ShardingConstraint;
  }

  /// Whether the operation selects an index or another value: `where(labels < 0, 0, labels)`.
  bool selectsIndex(const sema::Op &op) const {
    return op.kind == sema::OpKind::Elementwise && op.word == "select" &&
           (isIndex.count(op.operands[1]) || isIndex.count(op.operands[2]));
  }

  const sema::Model &model;
  llvm::function_ref<bool(const sema::Input &)> isSelected;
  llvm::DenseSet<sema::ValueId> isIndex;
  std::optional<int64_t> least;
};

/// Whether the input has tokens, not positions, document numbers or weights.
bool hasTokens(const sema::Input &input) {
  std::optional<Feed> feed = findFeed(input.name);
  return !feed || givesTokens(*feed);
}

/// The exclusive bound of random integers in the interpreter's test input: for integers of arrays,
/// the size of the indexed dimension; 2 for other integers, label weights and marks of used slots.
std::optional<int64_t> findDrawnBound(const sema::CheckedRun &run, const sema::Input &input) {
  constexpr int64_t zeroOrOne = 2;
  if (!run.run.readsArrays()) {
    const std::optional<Feed> feed = findFeed(input.name);
    return feed && isZeroOrOne(*feed) ? std::optional(zeroOrOne) : std::nullopt;
  }
  if (input.type.dtype != sema::DType::I64)
    return std::nullopt;
  auto isThis = [&](const sema::Input &other) { return other.name == input.name; };
  return IndexBound(run.train, isThis).sizeOr(zeroOrOne);
}

/// `titan.sizes`: the sizes of a step's data by their roles. Only tokens have a vocabulary: a
/// program checks the indices in arrays itself.
DictionaryAttr buildSizes(const sema::CheckedRun &run, Builder &builder) {
  SmallVector<NamedAttribute> sizes;
  auto add = [&](StringRef name, int64_t value) {
    sizes.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  };
  add("samples", run.run["data.batch"].integer);
  add("positions", run.run["data.seq"].integer);
  // Text consists of bytes, other data of 32-bit ids.
  const int64_t tokens = run.run["data.format"].isWord("text") ? 256 : INT32_MAX;
  if (!run.run.readsArrays())
    add("vocab", IndexBound(run.train, hasTokens).sizeOr(tokens));
  return builder.getDictionaryAttr(sizes);
}

ir::DataDimsAttr buildDataDims(const sema::DataDims &dims, Builder &builder) {
  return ir::DataDimsAttr::get(builder.getContext(), builder.getStringAttr(dims.samples),
                               dims.positions.empty() ? StringAttr()
                                                      : builder.getStringAttr(dims.positions));
}

/// `titan.absent_inputs`; null without such inputs. Two branches may declare one input.
DictionaryAttr buildAbsentInputs(const sema::Model &model, Builder &builder) {
  NamedAttrList absent;
  for (const auto &[name, setting] : model.absentInputs)
    if (!absent.get(name) &&
        llvm::none_of(model.inputs, [&](const sema::Input &input) { return input.name == name; }))
      absent.append(name, builder.getStringAttr(setting));
  return absent.empty() ? DictionaryAttr() : absent.getDictionary(builder.getContext());
}

/// Replaces control characters in a file name.
std::string makePrintable(StringRef name) {
  std::string line = name.str();
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return line;
}

/// A file name without folders of this machine, because exports are published: within the folder of
/// the program, else as in `import models.llama`.
std::string shortenPath(StringRef name, const std::filesystem::path &programFolder) {
  const std::filesystem::path path = name.str();
  if (!path.is_absolute())
    return name.str();
  const std::filesystem::path inside = path.lexically_relative(programFolder);
  const bool isInside = !inside.empty() && *inside.begin() != "..";
  return (isInside ? inside : path.parent_path().filename() / path.filename()).generic_string();
}

/// All sources and command-line settings under their names, so that a run directory documents what
/// was trained. A program that is such a text keeps its lines, and gets no file that it has.
std::string joinSources(const SourceManager &sources) {
  std::string all;
  std::optional<std::filesystem::path> programFolder; // the first file is the program
  StringSet<> seen; // a configuration file has copies, one per parsed value
  for (size_t i = 0; i < sources.bufferCount(); ++i) {
    FileId file = static_cast<FileId>(i);
    StringRef name = sources.name(file);
    if (!programFolder && name.ends_with(".titan"))
      programFolder = std::filesystem::path(name.str()).parent_path();
    if (name == "--set")
      all += "# --set " + std::string(sources.text(file)) + "\n";
    else if (!name.starts_with("--set ") && seen.insert(name).second) {
      const std::string text = std::string(sources.text(file)) + "\n";
      const std::string named =
          "# file: " + makePrintable(shortenPath(name, programFolder.value_or(""))) + "\n" + text;
      if (all.empty() && StringRef(text).starts_with("# file: "))
        all = text;
      else if (!StringRef(all).contains(named))
        all += named;
    }
  }
  return all;
}

/// A setting that the emitted program accepts at its start, with the rule by which it checks the
/// setting.
ir::SettingAttr makeLaunchSetting(Attribute value, const SettingRule &rule, OpBuilder &builder) {
  using Type = SettingRule::Type;
  bool isNumber = rule.type == Type::Integer || rule.type == Type::Number;
  StringRef takes = rule.type == Type::Integer  ? "integer"
                    : rule.type == Type::Number ? "number"
                    : rule.type == Type::Word   ? "word"
                                                : "text";
  bool hasMost = rule.type == Type::Number && std::isfinite(rule.most);
  SmallVector<StringRef> choices(rule.choices.begin(), rule.choices.end());
  return ir::SettingAttr::get(
      builder.getContext(), value, builder.getStringAttr(takes),
      isNumber ? builder.getF64FloatAttr(rule.least) : FloatAttr(),
      hasMost ? builder.getF64FloatAttr(rule.most) : FloatAttr(),
      rule.type == Type::Word ? builder.getStrArrayAttr(choices) : ArrayAttr(),
      rule.idleBeside.empty() ? ArrayAttr()
                              : builder.getStrArrayAttr({rule.idleBeside, rule.idleValue}));
}

/// Whether a setting is fixed at compile time: all settings of evaluation are, if the run does not
/// evaluate.
bool isCompiledIn(const sema::OptionSpec &spec, const sema::Run &run) {
  return spec.fixed == sema::Fixed::Compile ||
         (StringRef(spec.path).starts_with("eval.") && !run.evaluates());
}

/// The values that the program accepts at its start. Whether it can skip an update is fixed at
/// compile time.
SettingRule makeLaunchRule(const sema::OptionSpec &spec, const sema::Run &run) {
  SettingRule rule = sema::makeRule(spec);
  if (spec.path == "on_nonfinite")
    std::erase(rule.choices, run[spec.path].text == "skip" ? "warn" : "skip");
  return rule;
}

/// Adds the arguments of the model, the sizes of arrays and the degrees of the mesh. The emitted
/// program checks them like all compiled-in settings, so that one configuration file serves
/// compiler and program.
void addProgramChoices(const sema::CheckedRun &run, OpBuilder &builder,
                       SmallVector<NamedAttribute> &settings) {
  auto add = [&](const std::string &path, Attribute value) {
    settings.push_back(builder.getNamedAttr(path, ir::SettingAttr::get(value)));
  };
  for (const auto &[name, option] : run.run.modelArguments)
    add("model." + name, makeAttribute(option.value, builder));
  for (const auto &[name, option] : run.run.dataSizes)
    add("data." + name, makeAttribute(option.value, builder));
  std::map<std::string, int64_t> degrees; // `tp.kv_heads` and `tp.group` count for `tp`
  for (const sema::Axis &axis : run.mesh.axes)
    degrees.try_emplace(axis.name.substr(0, axis.name.find('.')), 1).first->second *= axis.degree;
  for (const auto &[axis, degree] : degrees)
    add("parallel." + axis,
        degree ? Attribute(builder.getI64IntegerAttr(degree)) : builder.getStringAttr("auto"));
}

} // namespace

static ir::WeightMapAttr lowerWeights(const WeightMap &map, Builder &builder) {
  auto text = [&](const std::string &each) { return builder.getStringAttr(each); };
  SmallVector<Attribute> parameters;
  for (const StoredParameter &stored : map.parameters)
    parameters.push_back(ir::StoredParameterAttr::get(
        builder.getContext(), text(stored.parameter), text(stored.tensor),
        builder.getDenseI64ArrayAttr(stored.shape), stored.start,
        builder.getDenseI64ArrayAttr(stored.sizes), builder.getDenseI64ArrayAttr(stored.strides)));
  SmallVector<NamedAttribute> copies;
  for (const auto &[copy, original] : map.copies)
    copies.push_back(builder.getNamedAttr(copy, text(original)));
  SmallVector<StringRef> unused(map.unused.begin(), map.unused.end());
  SmallVector<StringRef> merged(map.merged.begin(), map.merged.end());
  return ir::WeightMapAttr::get(builder.getContext(), text(map.format),
                                builder.getArrayAttr(parameters), builder.getDictionaryAttr(copies),
                                builder.getStrArrayAttr(unused),
                                merged.empty() ? ArrayAttr() : builder.getStrArrayAttr(merged));
}

void setRunAttributes(const sema::CheckedRun &run, const SourceManager &sources, ModuleOp module) {
  OpBuilder builder(module.getContext());
  SmallVector<NamedAttribute> settings;
  for (const sema::OptionSpec &spec : run.run.allOptions()) {
    Attribute value = makeAttribute(run.run[spec.path], builder);
    settings.push_back(builder.getNamedAttr(
        spec.path, isCompiledIn(spec, run.run)
                       ? ir::SettingAttr::get(value)
                       : makeLaunchSetting(value, makeLaunchRule(spec, run.run), builder)));
  }
  addProgramChoices(run, builder, settings);
  module->setAttr(ir::attr::kRun, builder.getDictionaryAttr(settings));
  module->setAttr(ir::attr::kRunName, builder.getStringAttr(run.run.name));
  module->setAttr(ir::attr::kModel, builder.getStringAttr(run.modelName));
  module->setAttr(ir::attr::kFingerprint,
                  builder.getStringAttr(sema::computeFingerprint(run.train)));
  module->setAttr(ir::attr::kSource, builder.getStringAttr(joinSources(sources)));
  module->setAttr(ir::attr::kSizes, buildSizes(run, builder));
  module->setAttr(ir::attr::kDataDims, buildDataDims(run.run.dims, builder));
  if (DictionaryAttr absent = buildAbsentInputs(run.train, builder))
    module->setAttr(ir::attr::kAbsentInputs, absent);
  if (run.weights)
    module->setAttr(ir::attr::kWeights, lowerWeights(*run.weights, builder));
  if (run.config)
    module->setAttr(ir::attr::kConfig, builder.getStringAttr(*run.config));
}

DictionaryAttr makeInputAttributes(const sema::CheckedRun &run, const sema::Input &input,
                                   OpBuilder &builder) {
  SmallVector<NamedAttribute> role{
      builder.getNamedAttr(ir::attr::kInput, builder.getStringAttr(input.name))};
  if (std::optional<int64_t> below = findDrawnBound(run, input))
    role.push_back(builder.getNamedAttr(ir::attr::kDrawnBelow, builder.getI64IntegerAttr(*below)));
  return builder.getDictionaryAttr(role);
}

void addStepAttributes(const sema::Run &run, OpBuilder &builder, Operation *train) {
  if (double clip = run["clip"].number(); clip > 0)
    train->setAttr(ir::attr::kClip, builder.getF64FloatAttr(clip));
  if (double bound = run["clip_value"].number(); bound > 0)
    train->setAttr(ir::attr::kClipValue, builder.getF64FloatAttr(bound));
  if (run["on_nonfinite"].text == "skip")
    train->setAttr(ir::attr::kSkipNonFinite, builder.getUnitAttr());
}

ir::PrecisionAttr makePrecisionAttribute(const sema::Run &run, const Translation &translation,
                                         MLIRContext *context) {
  auto type = [&](const char *path) {
    return translation.elementType(*sema::floatCalled(run[path].print()));
  };
  return ir::PrecisionAttr::get(context, type("precision.compute"), type("precision.reduce"),
                                type("precision.activations_reduce"), type("precision.optimizer"));
}

void addGroupAttributes(const sema::Run &run, const sema::Parameter &parameter, OpBuilder &builder,
                        SmallVectorImpl<NamedAttribute> &role) {
  const sema::Value *scale = sema::groupValue(run, "lr_scale", parameter);
  if (scale && scale->number() != 1)
    role.push_back(
        builder.getNamedAttr(ir::attr::kRateScale, builder.getF64FloatAttr(scale->number())));
}

void addTurnAttributes(const sema::Run &run, const sema::Model &model,
                       const sema::Parameter &parameter, OpBuilder &builder,
                       SmallVectorImpl<NamedAttribute> &role) {
  const std::vector<std::string> losses = sema::getLossNames(run, model, parameter);
  if (!losses.empty())
    role.push_back(builder.getNamedAttr(
        ir::attr::kLosses,
        builder.getStrArrayAttr(SmallVector<StringRef>(losses.begin(), losses.end()))));
  if (const Period period = sema::getPeriod(run, parameter); period != Period())
    role.push_back(builder.getNamedAttr(
        ir::attr::kPeriod, ir::PeriodAttr::get(builder.getContext(), period.every, period.offset)));
}

} // namespace titan::lowering
