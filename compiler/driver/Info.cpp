// `titanc info`: what is known of a run before it runs.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Facts.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {
namespace {

using sema::CheckedRun;

/// `layers.{l}.wq`: one name for the same parameter of all layers.
std::string publicName(const sema::Parameter &parameter) {
  std::string name = parameter.name;
  size_t from = 0;
  for (size_t i = 0; i < parameter.repeats.size(); ++i) {
    size_t dot = name.find('.', from);
    name.insert(dot, ".{l}");
    from = dot + 5;
  }
  return name;
}

llvm::json::Object shardingJson(const plan::TensorLayout &layout) {
  llvm::json::Object dims;
  for (auto [dim, axes] : llvm::zip_equal(layout.dims, layout.axes))
    if (!axes.empty())
      dims[dim] = llvm::json::Array(axes);
  return llvm::json::Object{{"dims", std::move(dims)}, {"flat", llvm::json::Array(layout.flat)}};
}

const plan::TensorLayout *findLayout(const Facts &facts, const std::string &parameter) {
  for (const plan::TensorLayout &layout : facts.layouts)
    if (layout.isParameter && layout.name == parameter)
      return &layout;
  return nullptr;
}

/// What the map binds besides parameters, by the names that an override can use.
llvm::json::Array valuesJson(const Facts &facts) {
  llvm::json::Array values;
  for (const plan::TensorLayout &layout : facts.layouts)
    if (!layout.isParameter)
      values.push_back(llvm::json::Object{{"name", layout.name},
                                          {"dims", llvm::json::Array(layout.dims)},
                                          {"sharding", shardingJson(layout)},
                                          {"file", layout.file},
                                          {"line", layout.line}});
  return values;
}

llvm::json::Object parametersJson(const sema::Model &model, const Facts &facts) {
  llvm::json::Array tensors;
  for (const sema::Parameter &parameter : model.parameters) {
    llvm::json::Array shape, names;
    llvm::json::Array iterations;
    for (size_t i = 0; i < parameter.repeats.size(); ++i) {
      shape.push_back(static_cast<int64_t>(parameter.iterations[i].size()));
      names.push_back(model.dims[parameter.repeats[i]].name);
      iterations.push_back(llvm::json::Array(parameter.iterations[i]));
    }
    for (sema::DimId id : parameter.type.dims) {
      shape.push_back(model.dims[id].size);
      names.push_back(model.dims[id].name);
    }
    llvm::json::Object tensor{{"name", publicName(parameter)},
                              {"shape", std::move(shape)},
                              {"dims", std::move(names)},
                              {"iterations", std::move(iterations)},
                              {"dtype", sema::spelling(parameter.type.dtype)}};
    if (const plan::TensorLayout *layout = findLayout(facts, parameter.name))
      tensor["sharding"] = shardingJson(*layout);
    tensors.push_back(std::move(tensor));
  }
  return llvm::json::Object{{"total", model.parameterCount()}, {"tensors", std::move(tensors)}};
}

/// The dimensions that the map makes longer, and how long.
std::vector<std::pair<const sema::Dim *, int64_t>> paddedDims(const CheckedRun &run) {
  std::vector<std::pair<const sema::Dim *, int64_t>> found;
  for (sema::DimId id = 0; id < run.train.dims.size(); ++id) {
    const sema::Dim &dim = run.train.dims[id];
    if (int64_t size = sema::paddedSize(run.mesh.axes, dim.name, dim.size); size != dim.size)
      found.push_back({&dim, size});
  }
  return found;
}

llvm::json::Array paddingJson(const CheckedRun &run) {
  llvm::json::Array padding;
  for (const auto &[dim, size] : paddedDims(run))
    padding.push_back(
        llvm::json::Object{{"dim", dim->name}, {"size", dim->size}, {"padded", size}});
  return padding;
}

llvm::json::Array settingsJson(const sema::Run &run) {
  llvm::json::Array settings;
  for (const sema::OptionSpec &spec : sema::optionTable())
    settings.push_back(
        llvm::json::Object{{"path", spec.path},
                           {"value", run[spec.path].print()},
                           {"set", run.options.at(spec.path).loc.isValid()},
                           {"fixed", spec.fixed == sema::Fixed::Compile ? "compile" : "launch"}});
  return settings;
}

/// What was asked for, and what became of it.
llvm::json::Array optionsJson(const sema::Run &run) {
  llvm::json::Array options;
  for (const sema::OptionSpec &spec : sema::optionTable())
    if (run.options.at(spec.path).loc.isValid())
      options.push_back(llvm::json::Object{
          {"name", spec.path}, {"state", "applied"}, {"reason", run[spec.path].print()}});
  return options;
}

llvm::json::Array collectivesJson(const std::vector<dist::CollectiveUse> &uses) {
  llvm::json::Array out;
  for (const dist::CollectiveUse &use : uses) {
    llvm::json::Array values;
    for (const dist::ExchangedValue &value : use.values)
      values.push_back(llvm::json::Object{{"value", value.name},
                                          {"file", value.file},
                                          {"line", value.line},
                                          {"bytes_sent", value.bytesSent}});
    out.push_back(llvm::json::Object{{"kind", use.kind},
                                     {"values", std::move(values)},
                                     {"axes", llvm::json::Array(use.axes)},
                                     {"times", use.times},
                                     {"overlapped", use.isOverlapped},
                                     {"bytes_sent", use.getBytesSent()}});
  }
  return out;
}

void printJson(const CheckedRun &run, const Facts &facts) {
  llvm::json::Object out{{"schema_version", 1},
                         {"model", run.modelName},
                         {"run", run.run.name},
                         {"ranks", facts.ranks},
                         {"parameters", parametersJson(run.train, facts)},
                         {"values", valuesJson(facts)},
                         {"flops_per_token", facts.flopsPerToken},
                         {"model_flops_per_token", facts.modelFlopsPerToken},
                         {"padding", paddingJson(run)},
                         {"memory", memoryJson(facts)},
                         {"collectives", collectivesJson(facts.collectives)},
                         {"lines", linesJson(facts)},
                         {"options", optionsJson(run.run)},
                         {"settings", settingsJson(run.run)}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(out))) << '\n';
}

void printFacts(const Facts &facts) {
  llvm::outs() << "\nper token: " << grouped(static_cast<int64_t>(facts.flopsPerToken + 0.5))
               << " floating-point operations, executed forward and backward\n           "
               << grouped(static_cast<int64_t>(facts.modelFlopsPerToken + 0.5))
               << " by TorchTitan's formula, for comparison\n";
  printMemory(llvm::outs(), facts);
  if (facts.ranks == 1)
    return;
  llvm::outs() << "\ncollectives of a step:\n";
  dist::printCollectives(llvm::outs(), facts.collectives);
}

/// By the names that the map's overrides use; parameters first.
void printLayouts(const Facts &facts) {
  llvm::outs() << "\nhow they lie (dimension / axis that splits it, over the axes that store it in "
                  "shards):\n";
  for (const plan::TensorLayout &layout : facts.layouts)
    llvm::outs() << llvm::formatv("  {0,-10} {1,-28} {2}\n",
                                  layout.isParameter ? "parameters" : "values", layout.name,
                                  layout.print());
}

void printText(const CheckedRun &run, const Facts &facts) {
  const sema::Model &model = run.train;
  llvm::outs() << "model " << run.modelName << ": " << grouped(model.parameterCount())
               << " parameters\n\n";
  for (const sema::Parameter &parameter : model.parameters) {
    std::string dims;
    auto add = [&](sema::DimId id, int64_t size) {
      dims += (dims.empty() ? "" : ", ") + model.dims[id].name + " = " + std::to_string(size);
    };
    for (size_t i = 0; i < parameter.repeats.size(); ++i)
      add(parameter.repeats[i], static_cast<int64_t>(parameter.iterations[i].size()));
    for (sema::DimId id : parameter.type.dims)
      add(id, model.dims[id].size);
    llvm::outs() << llvm::formatv("  {0,-28} {1,16}  {2}[{3}]\n", publicName(parameter),
                                  grouped(model.elements(parameter)),
                                  sema::spelling(parameter.type.dtype), dims);
  }
  llvm::outs() << "\nmesh, outer to inner:\n";
  for (const sema::Axis &axis : run.mesh.axes)
    llvm::outs() << "  " << axis.name << " = "
                 << (axis.degree ? std::to_string(axis.degree) : std::string("auto")) << '\n';
  for (const auto &[dim, size] : paddedDims(run))
    llvm::outs() << "  " << dim->name << " = " << dim->size << " is computed as " << size << '\n';
  printLayouts(facts);
  printFacts(facts);
  llvm::outs() << "\nsettings (launch: may be changed when the program starts):\n";
  for (const sema::OptionSpec &spec : sema::optionTable())
    llvm::outs() << llvm::formatv("  {0,-24} {1,-18} {2}\n", spec.path, run.run[spec.path].print(),
                                  spec.fixed == sema::Fixed::Compile ? "compile" : "launch");
}

} // namespace

int infoCommand(const CommonOptions &options, const InfoOptions &info) {
  if (info.options && options.file.empty()) {
    printOptions(nullptr, options.json);
    return 0;
  }
  Session session(options);
  std::optional<CheckedRun> run = session.check();
  if (info.options) {
    if (run)
      printOptions(&*run, options.json);
    return session.finish(run ? 0 : 1);
  }
  std::optional<Facts> facts;
  if (run)
    facts = gatherFacts(session, *run, info.processes, info.threads);
  if (facts)
    options.json ? printJson(*run, *facts) : printText(*run, *facts);
  if (facts && info.byLine && !options.json)
    printLines(llvm::outs(), *facts, session.sources);
  return session.finish(facts ? 0 : 1);
}

} // namespace titan::driver
