// Emits the table that describes the program to the runtime.

#include "compiler/emission/ProgramTable.h"

#include "compiler/emission/FunctionEmitter.h"
#include "dialects/dist/Analysis/DividedDims.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/Kernels/ScalarText.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/Turns.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/PipelineTable.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

ProgramTable::ProgramTable(ModuleOp module, Writer &out)
    : module(module), mesh(dist::MeshOp::lookup(module)), out(out) {}

static std::string joinAxes(dist::MeshOp mesh, ArrayAttr axes, StringRef separator) {
  std::string text;
  for (auto axis : axes.getAsRange<StringAttr>())
    text += (text.empty() ? "" : separator.str()) + LocalSizes::getAxisName(mesh, axis);
  return text;
}

std::string ProgramTable::getAxes(ArrayAttr axes) {
  return "{" + joinAxes(mesh, axes, ", ") + "}";
}

static int64_t getStaticDegree(dist::MeshOp mesh, ArrayAttr axes) {
  int64_t product = 1;
  for (auto axis : axes.getAsRange<StringAttr>())
    product *= mesh ? mesh.getDegree(axis) : 1;
  return product;
}

/// `degree[mesh::a] * degree[mesh::b]`, or the number.
static std::string getDegree(dist::MeshOp mesh, ArrayAttr axes) {
  if (int64_t known = getStaticDegree(mesh, axes))
    return std::to_string(known);
  std::string text;
  for (auto axis : axes.getAsRange<StringAttr>())
    text += (text.empty() ? "degree[" : " * degree[") + LocalSizes::getAxisName(mesh, axis) + "]";
  return axes.size() == 1 ? text : "(" + text + ")";
}

std::string ProgramTable::getCount(NamedTensorType type) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  int64_t flatFrom = sharding.isFlat() ? sharding.getFlatFrom() : type.getRank();
  std::string text, below;
  int64_t above = 1, product = 1;
  for (auto [i, dim, axes] : llvm::enumerate(type.getDims(), sharding.getDimAxes())) {
    bool isBelow = static_cast<int64_t>(i) >= flatFrom;
    int64_t degree = getStaticDegree(mesh, axes);
    if (degree)
      (isBelow ? product : above) *= dim.getSize() / degree;
    else
      (isBelow ? below : text) +=
          " * (" + std::to_string(dim.getSize()) + " / " + getDegree(mesh, axes) + ")";
  }
  text = std::to_string(above) + text;
  if (sharding.isFlat())
    text += " * tm::chunk(" + std::to_string(product) + below + ", " +
            getDegree(mesh, sharding.getFlatAxes()) + ")";
  return text;
}

std::string ProgramTable::getAllocation(AllocationAttr allocation) {
  auto type = cast<NamedTensorType>(allocation.getType());
  std::string count = getCount(type);
  if (allocation.getPad())
    count = "(" + count + " + " + getDegree(mesh, allocation.getPad()) + ")";
  if (allocation.getPer())
    count = "tm::threads() * " + count;
  return "{" + quote(allocation.getName().getValue()) + ", " + count + " * getByteSize(" +
         getDType(type.getElementType()) + "), " + std::to_string(allocation.getFirst()) + ", " +
         std::to_string(allocation.getLast()) +
         (allocation.getBucket() ? ", " + quote(allocation.getBucket().getValue()) + ", " +
                                       std::to_string(memory::countSlots(type))
                                 : "") +
         (memory::isOnHost(allocation) ? (allocation.getBucket() ? ", true" : ", \"\", 1, true")
                                       : "") +
         "}";
}

/// A stack overlap as a row of literals.
static std::string getStackOverlap(const arena::StackOverlap &overlap) {
  auto list = [](const auto &items, auto print) {
    std::string text;
    for (const auto &item : items)
      text += (text.empty() ? "" : ", ") + print(item);
    return "{" + text + "}";
  };
  auto number = [](size_t allocation) { return std::to_string(allocation); };
  auto constraint = [](arena::OffsetConstraint at) {
    return "{" + std::to_string(at.below) + ", " + std::to_string(at.above) + "}";
  };
  return "{" + list(overlap.consumed, number) + ", " + list(overlap.produced, number) + ", " +
         std::to_string(overlap.consumedSlots) + ", " + std::to_string(overlap.producedSlots) +
         ", " + list(overlap.producedAbove, constraint) + ", " +
         list(overlap.producedBelow, constraint) + "}";
}

std::string ProgramTable::getTensorInfo(NamedTensorType type, DenseI64ArrayAttr unpadded) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  std::string dims;
  for (auto [i, dim, axes] : llvm::enumerate(type.getDims(), sharding.getDimAxes())) {
    int64_t padding = unpadded ? dim.getSize() - unpadded[i] : 0;
    StringAttr headTail = sharding.getHeadTailAxis(i);
    dims += (dims.empty() ? "{" : ", {") + quote(dim.getName().getValue()) + ", " +
            std::to_string(dim.getSize()) + ", " + getAxes(axes) +
            (padding || headTail ? ", " + std::to_string(padding) : "") +
            (headTail ? ", " + LocalSizes::getAxisName(mesh, headTail) : "") + "}";
  }
  std::string summed = sharding.isPartial() ? ", " + getAxes(sharding.getPartialAxes()) : "";
  return "{" + getDType(type.getElementType()) + ", {" + dims + "}, " +
         getAxes(sharding.getFlatAxes()) + ", " + std::to_string(sharding.getFlatFrom()) + summed +
         "}";
}

void ProgramTable::emitMesh() {
  out.open("std::vector<Axis> titan::rt::programMesh()");
  std::string axes;
  if (mesh)
    for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
      axes += (axes.empty() ? "{" : ", {") + quote(axis.getName().getValue()) + ", " +
              std::to_string(axis.getDegree()) + "}";
  out.line("return {" + axes + "};");
  out.close();
  out.blank();
}

static std::string getList(ArrayRef<int64_t> list) {
  std::string numbers;
  for (int64_t number : list)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
  return "{" + numbers + "}";
}

/// Rows of stored parameters and lists of names, as other software stores the weights.
void ProgramTable::emitWeights() {
  auto map = module->getAttrOfType<WeightMapAttr>(attr::kWeights);
  if (!map)
    return;
  out.open("setWeights(p, {" + quote(map.getFormat()) + ",");
  for (auto stored : map.getParameters().getAsRange<StoredParameterAttr>())
    out.line("{" + quote(stored.getParameter()) + ", " + quote(stored.getTensor()) + ", " +
             getList(stored.getShape()) + ", " + std::to_string(stored.getStart()) + ", " +
             getList(stored.getSizes()) + ", " + getList(stored.getStrides()) + "},");
  std::string copies, unused, merged;
  for (NamedAttribute copy : map.getCopies())
    copies += "{" + quote(copy.getName()) + ", " + quote(cast<StringAttr>(copy.getValue())) + "}, ";
  for (auto pattern : map.getUnused().getAsRange<StringAttr>())
    unused += quote(pattern) + ", ";
  if (map.getMerged())
    for (auto name : map.getMerged().getAsRange<StringAttr>())
      merged += quote(name) + ", ";
  out.close(", {" + copies + "}, {" + unused + "}" + (merged.empty() ? "" : ", {" + merged + "}") +
            "});");
}

void ProgramTable::emitPersistent() {
  out.open("setPersistent(p,");
  if (auto allocations = module->getAttrOfType<ArrayAttr>(memory::kPersistent))
    for (auto allocation : allocations.getAsRange<AllocationAttr>())
      out.line(getAllocation(allocation) + ",");
  out.close(");");
}

/// `Init::...`, the scales and the cut of a parameter's initial values.
static std::string getInit(InitAttr init) {
  static const char *const kinds[] = {"Constant", "Normal", "TruncatedNormal", "Uniform"};
  std::string scales;
  for (double scale : init.getScale().asArrayRef())
    scales += (scales.empty() ? "" : ", ") + ir::getLiteral(scale);
  return std::string(".init = Init::") + kinds[static_cast<int>(init.getKind())] + ", .scale = {" +
         scales + "}, .cut = " + ir::getLiteral(init.getCut().getValueAsDouble());
}

static std::string getLists(ArrayRef<SmallVector<int64_t>> lists) {
  std::string text;
  for (ArrayRef<int64_t> list : lists)
    text += (text.empty() ? "" : ", ") + getList(list);
  return "{" + text + "}";
}

/// `, .indexRange = ...` of an input whose numbers are indices; empty for other tensors.
static std::string getIndexRange(DictionaryAttr attributes) {
  auto range = attributes.getAs<DenseI64ArrayAttr>(attr::kIndexRange);
  if (!range)
    return "";
  const std::string least = range[0] == INT64_MIN ? "INT64_MIN" : std::to_string(range[0]);
  return ", .indexRange = {" + least + ", " + std::to_string(range[1]) + "}";
}

void ProgramTable::emitTensor(func::FuncOp function, DictionaryAttr attributes,
                              NamedTensorType type, AllocRefAttr ref) {
  static const std::pair<StringRef, StringRef> roles[] = {
      {attr::kParam, "Parameter"}, {attr::kState, "State"},   {attr::kInput, "Input"},
      {attr::kCache, "Cache"},     {attr::kScalar, "Scalar"}, {attr::kGradient, "Gradient"},
      {attr::kOutput, "Output"}};
  bool isShared = ref.getSpace() == MemorySpace::Persistent;
  Operation *owner = isShared ? nullptr : function.getOperation();
  for (auto [attribute, role] : roles) {
    auto name = attributes.getAs<StringAttr>(attribute);
    if (attribute == attr::kInput && function->hasAttr(dist::kFragmentAttr))
      continue; // emitInputs describes the whole
    if (!name)
      continue;
    bool isNamedLoss = attribute == attr::kOutput && name.getValue().starts_with(getLossOutput(""));
    if (!described.insert({owner, ref, isNamedLoss ? name.getValue() : StringRef()}).second)
      continue;
    out.line("{.role = Role::" + role + ", .name = " + quote(name) + ",");
    auto unpadded = attributes.getAs<DenseI64ArrayAttr>(attr::kUnpadded);
    out.line(" .info = " + getTensorInfo(type, unpadded) +
             ", .allocation = " + std::to_string(ref.getIndex()) + ",");
    std::string rest =
        isShared ? ""
                 : ".function = " +
                       quote(function->getAttrOfType<StringAttr>(attr::kProgram).getValue()) + ", ";
    Attribute stacked = attributes.get(attr::kStacked);
    rest += std::string(".stacked = ") + (stacked ? "true" : "false");
    if (stacked && !isa<UnitAttr>(stacked)) {
      Stack stack = getStack(stacked, type);
      rest += ", .iterations = " + getLists(stack.iterations);
      if (!hasDefaultSegments(stack))
        rest += ", .repeatSegments = " + getList(stack.segments);
    }
    if (auto init = attributes.getAs<InitAttr>(attr::kInit))
      rest += ", " + getInit(init);
    if (auto from = attributes.getAs<StringAttr>(attr::kInitFrom))
      rest += from == "partial" ? ", .initFrom = InitFrom::Partial"
                                : ", .initFrom = InitFrom::Optional";
    rest += getIndexRange(attributes);
    out.line(" " + rest + "},");
    if (role == "Parameter" && !attributes.get(attr::kBuffer)) {
      int64_t elements = 1;
      for (int64_t size : unpadded ? SmallVector<int64_t>(unpadded.asArrayRef()) : type.getShape())
        elements *= size;
      parameters += elements;
      parameterType = parameterType ? parameterType : type.getElementType();
    }
  }
}

void ProgramTable::emitTensors(func::FuncOp function) {
  auto arguments = function->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
  for (auto [i, ref] : llvm::enumerate(arguments.getAsRange<AllocRefAttr>()))
    emitTensor(function, function.getArgAttrDict(i),
               cast<NamedTensorType>(function.getArgument(i).getType()), ref);
  Operation *terminator = function.getBody().front().getTerminator();
  auto results = terminator->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
  for (auto [i, ref] : llvm::enumerate(results.getAsRange<AllocRefAttr>()))
    emitTensor(function, function.getResultAttrDict(i),
               cast<NamedTensorType>(terminator->getOperand(i).getType()), ref);
}

void ProgramTable::emitInputs(func::FuncOp declaration) {
  DenseSet<AllocRefAttr>
      seen; // an input has one for its slots, and one if a fragment reads it whole
  for (func::FuncOp fragment : dist::getFragments(declaration))
    for (unsigned i = 0; i < fragment.getNumArguments(); ++i) {
      auto name = fragment.getArgAttrOfType<StringAttr>(i, attr::kInput);
      AllocRefAttr ref = memory::getAllocRef(fragment.getArgument(i));
      if (!name || !seen.insert(ref).second)
        continue;
      unsigned whole = *ir::findArgument(declaration, attr::kInput, name);
      auto type = cast<NamedTensorType>(declaration.getArgumentTypes()[whole]);
      out.line("{.role = Role::Input, .name = " + quote(name) + ", .info = " +
               getTensorInfo(type, nullptr) + ", .allocation = " + std::to_string(ref.getIndex()) +
               ", .function = " + quote(declaration.getName()) +
               getIndexRange(declaration.getArgAttrDict(whole)) + "},");
    }
}

static std::string getList(const std::vector<int> &list) {
  return getList(SmallVector<int64_t>(list.begin(), list.end()));
}

/// A fragment as a row.
static std::string getFragmentRow(const pipeline::Fragment &fragment) {
  static const char *const kinds[] = {"Begin", "Forward", "Backward",
                                      "Wgrad", "Update",  "Evaluate"};
  return "{" + quote(fragment.function) +
         ", FragmentKind::" + kinds[static_cast<int>(fragment.kind)] + ", " +
         std::to_string(fragment.stage) + ", " + std::to_string(fragment.level) + ", " +
         getList(fragment.uses) + ", " + getList(fragment.reads) + ", " + getList(fragment.writes) +
         "},";
}

void ProgramTable::emitPipelines() {
  for (const pipeline::Pipeline &pipeline : memory::getPipelines(module)) {
    auto axis = cast<dist::MeshAxisAttr>(mesh.getAxes()[pipeline.axis]);
    out.open("addPipeline(p, {" + quote(pipeline.program) + ", " +
             LocalSizes::getAxisName(mesh, axis.getName()) + ", " +
             std::to_string(pipeline.stages) + ", " + std::to_string(pipeline.microbatches) + ", " +
             quote(pipeline.schedule) + ",");
    for (const pipeline::Fragment &fragment : pipeline.fragments)
      out.line(getFragmentRow(fragment));
    out.close(", " + getList(pipeline.stashes) + ", " + getList(pipeline.inputs) + "});");
  }
}

static std::string getPeriods(const std::vector<Period> &periods) {
  std::string list;
  for (const Period &period : periods)
    list += (list.empty() ? "{" : ", {") + std::to_string(period.every) + ", " +
            std::to_string(period.offset) + "}";
  return "{" + list + "}";
}

void ProgramTable::emitTurn(func::FuncOp function) {
  auto attribute = function->getAttrOfType<TurnAttr>(attr::kTurn);
  if (!attribute)
    return;
  const Turn turn = getTurn(attribute);
  out.line("addTurn(p, {" + quote(function.getName()) + ", " + getPeriods(turn.due) + ", " +
           getPeriods(turn.idle) + "});");
}

void ProgramTable::emitFunction(func::FuncOp function, StringRef name) {
  auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
  auto events = function->getAttrOfType<IntegerAttr>(memory::kEvents);
  out.open("addFunction(p, {" + quote(program.getValue()) + ",");
  for (auto allocation :
       function->getAttrOfType<ArrayAttr>(memory::kTransient).getAsRange<AllocationAttr>())
    out.line(getAllocation(allocation) + ",");
  std::vector<arena::StackOverlap> stackOverlaps = memory::getStackOverlaps(function);
  out.close(", " + std::to_string(events.getInt()) + ", " + name +
            (stackOverlaps.empty() ? "::run});" : "::run, {"));
  if (stackOverlaps.empty())
    return;
  out.indent();
  for (const arena::StackOverlap &overlap : stackOverlaps)
    out.line(getStackOverlap(overlap) + ",");
  out.close("});");
}

void ProgramTable::emitDivisibility(ArrayRef<func::FuncOp> functions) {
  dist::MeshAxisAttr automatic = mesh ? dist::findAutoAxis(mesh) : dist::MeshAxisAttr();
  if (!automatic)
    return;
  for (const dist::DividedDim &found : dist::findDividedDims(functions, automatic.getName()))
    out.line(
        "p.shardedDims.push_back({" + quote(found.dim.getName().getValue()) + ", " +
        std::to_string(found.dim.getSize()) + ", " + getAxes(found.axes) +
        (found.headTailAxis ? ", 0, " + LocalSizes::getAxisName(mesh, found.headTailAxis) : "") +
        "});");
}

void ProgramTable::emitRoutes(ArrayRef<func::FuncOp> functions) {
  llvm::SetVector<std::pair<Attribute, Attribute>> routes;
  for (func::FuncOp function : functions)
    function.walk([&](Operation *op) {
      if (dist::isMessage(op))
        routes.insert({op->getAttr("axes"), op->getAttr("offset")});
    });
  for (auto [axes, offset] : routes)
    out.line("p.routes.push_back({" + getAxes(cast<ArrayAttr>(axes)) + ", " +
             std::to_string(cast<IntegerAttr>(offset).getInt()) + "});");
}

void ProgramTable::emitDescription(ArrayRef<func::FuncOp> functions,
                                   ArrayRef<std::string> namespaces) {
  out.line("// Runs once: cold, so that compilers spend little on it.");
  out.open("[[gnu::cold]] void describe(Program &p, [[maybe_unused]] const int64_t *degree)");
  emitPersistent();
  out.open("static constexpr List<TensorRow> tensors =");
  for (func::FuncOp function : functions)
    emitTensors(function);
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(dist::kFragmentsAttr))
      emitInputs(function);
  out.close(";");
  out.line("setTensors(p, tensors);");
  emitDivisibility(functions);
  emitRoutes(functions);
  for (auto [function, name] : llvm::zip_equal(functions, namespaces))
    emitFunction(function, name);
  for (auto function : module.getOps<func::FuncOp>()) // a turn may be a list of fragments
    emitTurn(function);
  emitPipelines();
  out.close();
  out.blank();
}

void ProgramTable::emitDescribeCall(StringRef degreeOne) {
  if (degreeOne.empty())
    return out.line("describe(p, degree);");
  out.line("if (degree[" + LocalSizes::getAxisName(mesh, dist::findAutoAxis(mesh).getName()) +
           "] == 1)");
  out.line("  " + degreeOne + "::describe(p, degree);");
  out.line("else");
  out.line("  describe(p, degree);");
}

/// " with after:model=mine (libmine.so 0123456789abcdef)" for a program with inserted passes: it
/// may compute something else than its model says.
static std::string describeInsertions(ModuleOp module) {
  auto join = [&](StringRef name) {
    std::string text;
    if (auto all = module->getAttrOfType<ArrayAttr>(name))
      for (auto each : all.getAsRange<StringAttr>())
        text += (text.empty() ? "" : ", ") + each.str();
    return text;
  };
  const std::string inserted = join(attr::kInserted), plugins = join(attr::kPlugins);
  if (inserted.empty())
    return "";
  return " with " + inserted + (plugins.empty() ? "" : " (" + plugins + ")");
}

void ProgramTable::emit(const HostFunctions &hostFunctions, StringRef degreeOne,
                        StringRef checksum) {
  emitMesh();
  out.open("Program titan::rt::program(const int64_t *degree)");
  out.line("Program p;");
  if (auto name = module->getAttrOfType<StringAttr>(ir::attr::kRunName))
    out.line("p.name = " + quote(name) + ";");
  if (auto fingerprint = module->getAttrOfType<StringAttr>(ir::attr::kFingerprint))
    out.line("p.model = " + quote(fingerprint.str() + describeInsertions(module)) + ";");
  if (auto source = module->getAttrOfType<StringAttr>(ir::attr::kSource))
    out.line("p.source = {" + quote(source) + ", " + std::to_string(source.size()) + "};");
  if (auto config = module->getAttrOfType<StringAttr>(ir::attr::kConfig))
    out.line("p.config = " + quote(config) + ";");
  out.line("p.code = " + quote(checksum) + ";");
  out.line("p.mesh = programMesh();");
  emitDescribeCall(degreeOne);
  emitSettings();
  emitWeights();
  hostFunctions.emitRows(out);
  if (parameterType)
    out.line("p.dtype = " + getDType(parameterType) + ";");
  if (auto sizes = module->getAttrOfType<DictionaryAttr>(ir::attr::kSizes))
    for (StringRef role : {"samples", "positions", "vocab"}) // fields of Program
      if (auto size = sizes.getAs<IntegerAttr>(role))
        out.line("p." + role + " = " + std::to_string(size.getInt()) + ";");
  if (auto dims = DataDimsAttr::lookup(module))
    out.line("p.dims = {" + quote(dims.getSamples()) + ", " +
             quote(dims.getPositions() ? dims.getPositions().getValue() : "") + "};");
  if (auto absent = module->getAttrOfType<DictionaryAttr>(attr::kAbsentInputs))
    for (NamedAttribute input : absent)
      out.line("p.absentInputs.push_back({" + quote(input.getName()) + ", " +
               quote(cast<StringAttr>(input.getValue()).getValue()) + "});");
  if (module->hasAttr(attr::kSumsOverSamples))
    out.line("p.sumsOverSamples = true;");
  if (auto logits = module.lookupSymbol<func::FuncOp>("logits"))
    if (auto reason = logits->getAttrOfType<StringAttr>(attr::kUncached))
      out.line("p.uncached = " + quote(reason) + ";");
  out.line("p.parameters = " + std::to_string(parameters) + ";");
  for (auto [attribute, field] : {std::pair(ir::attr::kFlopsPerToken, "flopsPerToken"),
                                  std::pair(ir::attr::kModelFlopsPerToken, "modelFlopsPerToken")})
    if (auto flops = module->getAttrOfType<FloatAttr>(attribute))
      out.line(std::string("p.") + field + " = " + ir::getLiteral(flops.getValueAsDouble()) + ";");
  out.line("return p;");
  out.close();
}
