// `titanc import DIR [-o FILE.titan]`: a program for a model of other software, from its
// config.json.
#include "base/Error.h"
#include "base/files/Safetensors.h"
#include "base/weights/QuantMethods.h"
#include "base/weights/StridedLayout.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/ImportText.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"
#include "compiler/sema/interchange/ApplyWeights.h"
#include "compiler/sema/interchange/ConfigDemands.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/DataDims.h"
#include "compiler/sema/runs/ParameterMatrix.h"
#include "compiler/syntax/Format.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

namespace titan::driver {

namespace stdfs = std::filesystem; // `fs` is that of LLVM in the driver

namespace {

/// The models of the standard library.
std::vector<std::string> listLibraryFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto &entry : stdfs::directory_iterator(join(findStandardLibrary(), "models"), error))
    if (entry.path().extension() == ".titan")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class Importer {
public:
  Importer(CompilerInstance &instance, const ImportOptions &options)
      : sources(instance.sources), diags(instance.diags), givenText(instance.options.text),
        options(options), library(sources, diags, {findStandardLibrary()}) {}

  /// The text of the program; empty after an error.
  std::optional<std::string> run() {
    file = load();
    std::optional<sema::ConfigValue> config;
    if (file)
      config = sema::readConfigJson(*file, sources, diags);
    if (!config)
      return std::nullopt;
    checkQuantization(*config);
    std::string architecture = sema::readArchitecture(*config, diags);
    sema::Symbol decl = architecture.empty() ? sema::Symbol{} : find(architecture, *config);
    if (!decl)
      return std::nullopt;
    std::optional<sema::ConfigMap> map = sema::resolveConfig(decl, library, diags);
    if (map)
      sema::checkConfig(*map, diags);
    if (!map || diags.hasErrors())
      return std::nullopt;
    std::optional<sema::ImportedConfig> imported =
        sema::importConfig(*map, *config, library, diags);
    if (!imported)
      return std::nullopt;
    ImportedModel model = describe(*map, *config, std::move(imported->arguments));
    model.ignored = std::move(imported->ignored);
    constexpr int64_t longest = 2048; // positions of a sample of the written run
    model.seq =
        chooseLength(*map, model.arguments, std::min(imported->length.value_or(longest), longest));
    model.readsTokens = readsTokens;
    return model.seq ? layOut(makeImportText(model)) : std::nullopt;
  }

private:
  std::optional<FileId> load() {
    path = options.input;
    if (givenText)
      return sources.addBuffer(path, *givenText);
    std::error_code error;
    if (stdfs::is_directory(path, error))
      path = join(path, "config.json");
    std::string reason;
    std::optional<FileId> loaded = sources.loadFile(path, reason);
    if (!loaded)
      diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return loaded;
  }

  /// Reports weights in a form that programs do not read.
  void checkQuantization(const sema::ConfigValue &config) {
    auto found = config.members.find("quantization_config");
    if (found == config.members.end() || !found->second.isObject)
      return;
    auto method = found->second.members.find("quant_method");
    const bool isNamed = method != found->second.members.end() &&
                         method->second.value.kind == sema::Value::Kind::String;
    const std::string name = isNamed ? method->second.value.text : "";
    if (llvm::is_contained(readableQuantMethods, name))
      return;
    std::vector<std::string> known(readableQuantMethods.begin(), readableQuantMethods.end());
    diags
        .report(Code::BadConfigValue, isNamed ? method->second.loc : found->second.loc,
                isNamed ? "the weights are quantized by `" + name + "`, which programs do not read"
                        : "`quantization_config` has no `quant_method`")
        .help("they read " + sema::listNames(known) +
              "; other software can dequantize weights and save them again");
  }

  /// The declaration for an architecture: in the user's modules, then in the library.
  sema::Symbol find(const std::string &architecture, const sema::ConfigValue &config) {
    std::vector<std::string> files = options.modules, names;
    for (std::string &file : listLibraryFiles())
      files.push_back(std::move(file));
    for (size_t i = 0; i < files.size(); ++i)
      if (sema::Symbol found = findIn(files[i], i < options.modules.size(), architecture))
        return found;
    if (diags.hasErrors())
      return {};
    for (const std::string &file : files)
      for (const sema::Symbol &decl : loadConfigs(file))
        names.push_back(sema::getName(*decl.decl).text);
    diags
        .report(Code::UnknownArchitecture, config.members.at("architectures").loc,
                "no declaration `config \"" + architecture + "\"`")
        .help("there are declarations for " + sema::listNames(names) +
              "; `--with FILE.titan` names a file with others");
    return {};
  }

  /// A file of the library is not parsed unless it has the name in quotes.
  sema::Symbol findIn(const std::string &file, bool isGivenByUser,
                      const std::string &architecture) {
    std::string reason;
    std::optional<FileId> text = sources.loadFile(file, reason);
    if (!text && isGivenByUser)
      diags.report(Code::CannotReadFile, {}, "cannot read `" + file + "`: " + reason);
    const std::string quoted = '"' + architecture + '"';
    if (!text || (!isGivenByUser && sources.text(*text).find(quoted) == std::string_view::npos))
      return {};
    for (const sema::Symbol &decl : loadConfigs(file))
      if (sema::getName(*decl.decl).text == architecture)
        return decl;
    return {};
  }

  /// The declarations of a file that have a model.
  std::vector<sema::Symbol> loadConfigs(const std::string &file) {
    const sema::Unit *&unit = units[file];
    if (!unit)
      unit = library.loadRoot(file);
    std::vector<sema::Symbol> found;
    if (unit)
      for (const syntax::DeclPtr &decl : unit->module->decls)
        if (auto *config = decl->as<syntax::ConfigDecl>(); config && config->model)
          found.push_back({decl.get(), unit});
    return found;
  }

  /// The path of the configuration, without folders of this machine, because exports contain the
  /// text of the program.
  std::string nameSource() const {
    const stdfs::path whole = path;
    return whole.is_absolute() ? (whole.parent_path().filename() / whole.filename()).string()
                               : path;
  }

  ImportedModel describe(const sema::ConfigMap &map, const sema::ConfigValue &config,
                         std::vector<sema::NamedArgument> arguments) {
    ImportedModel model;
    model.source = nameSource();
    for (const sema::Unit *unit : {map.model.unit, map.decl.unit})
      if (std::string name = moduleName(*unit); !llvm::is_contained(model.modules, name))
        model.modules.push_back(std::move(name));
    std::error_code error;
    stdfs::path canonical = stdfs::weakly_canonical(path, error);
    model.base = sema::getName(*map.model.decl).text;
    model.name = makeModelName(canonical.parent_path().filename().string());
    while (library.lookup(*map.model.unit, model.name)) // it would hide a name of the import
      model.name += "_Model";
    model.arguments = std::move(arguments);
    model.rules = findRules(map);
    if (options.lora.rank)
      addLora(model);
    if (!options.preferences.empty())
      addPreferences(model);
    const std::string stored = readElementType(config);
    if (stored == "bf16")
      model.compute = stored;
    if (stored == "bf16" || stored == "f16") // parameters are wider
      model.stored = stored;
    return model;
  }

  void addLora(ImportedModel &model) const {
    const LoraOptions &lora = options.lora;
    const double alpha = lora.alpha ? lora.alpha : 2 * static_cast<double>(lora.rank);
    model.modules.emplace_back("std.adapter");
    model.trainsAdapters = true;
    model.rules.emplace_back("parameters \"*\" { frozen = true }");
    model.rules.push_back("parameters \"" + lora.pattern +
                          "\" { adapter = LowRank(_, rank = " + std::to_string(lora.rank) +
                          ", alpha = " + sema::Value::ofFloat(alpha).print() +
                          (lora.rate ? ", rate = " + sema::Value::ofFloat(lora.rate).print() : "") +
                          ") }");
  }

  /// A model around the imported one, which calls it as the policy and as its reference.
  void addPreferences(ImportedModel &model) const {
    model.modules.emplace_back("std.preferences");
    model.trained = model.name + "_Pairs";
    model.wrapper = "Preferences { policy = " + model.name + ", kind = \"" + options.preferences +
                    "\", beta = 0.1 }";
    model.rules.push_back(
        std::string(
            "parameters \"reference.*\" { frozen = true, init_from = copy, export = false") +
        (options.lora.rank ? ", adapter = none }" : " }"));
  }

  /// The element type of the stored weights; empty: unknown.
  static std::string readElementType(const sema::ConfigValue &config) {
    static const std::map<std::string, std::string> types = {{"bfloat16", "bf16"},
                                                             {"float16", "f16"}};
    for (const char *key : {"torch_dtype", "dtype"})
      if (auto member = config.members.find(key); member != config.members.end())
        for (const auto &[name, type] : types)
          if (member->second.value == sema::Value::ofString(name))
            return type;
    return "";
  }

  /// The `parameters` rules of the first run of the model in the file of the declaration. For a
  /// model with adapters, these rules say which parameters are trained, whatever the weights are.
  std::vector<std::string> findRules(const sema::ConfigMap &map) const {
    const sema::Unit &unit = *map.decl.unit;
    std::vector<std::string> rules;
    for (const syntax::DeclPtr &decl : unit.module->decls) {
      auto *run = decl->as<syntax::TrainDecl>();
      if (!run || run->derived)
        continue;
      sema::Symbol model = library.lookup(unit, run->base);
      if (!model || sema::findBaseModel(model, library).decl != map.subject.base.decl)
        continue;
      for (const syntax::Setting &setting : run->settings)
        if (setting.path.text() == "parameters")
          rules.emplace_back(sources.text(setting.loc));
      break;
    }
    return rules;
  }

  /// The name of a file in an import: with dots in the library, else a path from the written file.
  std::string moduleName(const sema::Unit &unit) const {
    std::error_code error;
    stdfs::path inLibrary = stdfs::proximate(unit.path, findStandardLibrary(), error);
    if (!inLibrary.is_absolute() && *inLibrary.begin() != "..") {
      std::string name = inLibrary.replace_extension("").generic_string();
      std::replace(name.begin(), name.end(), '/', '.');
      return name;
    }
    stdfs::path here = options.writesFile() ? stdfs::absolute(options.output).parent_path() : ".";
    return '"' + stdfs::proximate(unit.path, here, error).generic_string() + '"';
  }

  /// The length of samples: `longest`, or the half, a quarter, ... that the model accepts. 0, after
  /// the report, if it accepts none.
  int64_t chooseLength(const sema::ConfigMap &map,
                       const std::vector<sema::NamedArgument> &arguments, int64_t longest) {
    sema::Specialisation spec;
    spec.arguments = map.subject.arguments;
    for (const auto &[name, argument] : arguments)
      spec.arguments[name] = argument;
    spec.dataDims = sema::defaultDataDims(*map.subject.base.unit, library);
    spec.sizes[spec.dataDims.samples] = {sema::Value::ofInt(1), {}};
    for (int64_t length = longest; length > 0; length /= 2) {
      spec.sizes[spec.dataDims.positions] = {sema::Value::ofInt(length), {}};
      DiagnosticEngine trial(sources);
      sema::Model model;
      if (sema::elaborate(map.subject.base, spec, library, trial, model)) {
        readsTokens =
            llvm::any_of(model.inputs, [](const auto &input) { return input.name == "tokens"; });
        return matchesWeights(map, model) && adaptsParameters(model) ? length : 0;
      }
      if (length == 1)
        reportRefusal(map, trial.all().front(), arguments);
    }
    return 0;
  }

  /// Reports a tensor in the files beside the configuration whose shape the model does not have.
  /// Unreadable files and missing tensors are errors of the program that reads them.
  bool matchesWeights(const sema::ConfigMap &map, const sema::Model &model) {
    DiagnosticEngine trial(sources); // `titanc build` reports errors of the declaration
    const auto declarations = sema::findAllWeights(map.model, {}, *map.model.unit, library);
    const std::optional<WeightMap> weights =
        declarations.empty() || givenText
            ? std::nullopt
            : sema::applyWeights(declarations, model, {}, library, trial);
    const auto shapes = weights ? readShapes() : StoredShapes();
    for (const StoredParameter &stored :
         weights ? weights->parameters : std::vector<StoredParameter>()) {
      const std::string name = makeTensorName(stored, getFirst(model, stored.parameter), 0);
      const auto found = shapes.find(name);
      if (found == shapes.end() || found->second == stored.shape)
        continue;
      diags
          .report(Code::BadConfigValue, sources.locate(*file, 0, 1),
                  "the tensor `" + name + "` beside this configuration has the shape " +
                      print(found->second) + ", but the configuration means " + print(stored.shape))
          .help("the weights belong to another configuration: restore the one that they were saved "
                "with, or move them away");
      return false;
    }
    return true;
  }

  /// Reports a pattern of `--lora-on` without matrices.
  bool adaptsParameters(const sema::Model &model) {
    std::vector<std::string> matrices;
    for (uint32_t i = 0; options.lora.rank && i < model.parameters.size(); ++i)
      if (sema::findMatrixUses(model, i).roles)
        matrices.push_back(model.parameters[i].name);
    const auto matches = [&](const std::string &name) {
      return sema::matchesGlob(options.lora.pattern, name);
    };
    if (!options.lora.rank || llvm::any_of(matrices, matches))
      return true;
    diags
        .report(Code::BadAdapter, {},
                "`--lora-on " + options.lora.pattern + "` matches no matrix of the model")
        .help("its matrices are " + sema::listNames(matrices));
    return false;
  }

  /// The first iteration of the parameter's repeats.
  static std::vector<int64_t> getFirst(const sema::Model &model, const std::string &parameter) {
    std::vector<int64_t> first;
    for (const sema::Parameter &each : model.parameters)
      if (each.name == parameter)
        for (const std::vector<int64_t> &iterations : each.iterations)
          first.push_back(iterations.front());
    return first;
  }

  using StoredShapes = std::map<std::string, std::vector<int64_t>>;

  StoredShapes readShapes() const {
    StoredShapes shapes;
    std::error_code error;
    const stdfs::path folder = stdfs::absolute(path, error).parent_path();
    for (const auto &entry : stdfs::directory_iterator(folder, error))
      if (entry.path().extension() == ".safetensors")
        try {
          const SafetensorsFile opened(entry.path().string());
          for (const auto &[name, tensor] : opened.tensors())
            if (llvm::is_contained({"F64", "F32", "F16", "BF16"}, tensor.dtype))
              shapes[name] = tensor.shape; // quantized tensors have others
        } catch (const UserError &) {
        }
    return shapes;
  }

  static std::string print(const std::vector<int64_t> &shape) {
    std::string text;
    for (const int64_t size : shape)
      text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
  }

  /// Reports the first error of a model that cannot be built. The location is the key of an
  /// argument that the error mentions, else of an argument that cannot be a size.
  void reportRefusal(const sema::ConfigMap &map, const Diagnostic &error,
                     const std::vector<sema::NamedArgument> &arguments) {
    std::vector<const sema::NamedArgument *> suspects;
    for (const sema::NamedArgument &argument : arguments)
      if (mentions(error, argument.second.loc))
        suspects.push_back(&argument);
    for (const sema::NamedArgument &argument : arguments)
      if (isNoSize(argument.second.value) && !mentions(error, argument.second.loc))
        suspects.push_back(&argument);
    Location at = suspects.empty() ? sources.locate(*file, 0, 1) : suspects.front()->second.loc;
    Diagnostic &diag = diags.report(Code::BadConfigValue, at,
                                    "`" + sema::getName(*map.model.decl).text +
                                        "` refuses these arguments: " + error.message);
    for (const sema::NamedArgument *suspect : suspects)
      diag.note(suspect->second.loc,
                "`" + suspect->first + "` is " + suspect->second.value.print());
    diag.note(error.location, "here in the model");
    for (const Note &note : error.notes)
      if (note.location.file != *file)
        diag.note(note.location, note.message);
  }

  static bool mentions(const Diagnostic &error, const Location &at) {
    return error.location == at ||
           std::any_of(error.notes.begin(), error.notes.end(),
                       [&](const Note &note) { return note.location == at; });
  }

  /// Whether a value is not a positive number, as sizes are.
  static bool isNoSize(const sema::Value &value) {
    bool isBoolean = value.kind == sema::Value::Kind::Bool;
    return !isBoolean && !(value.isNumber() && value.number() > 0);
  }

  std::optional<std::string> layOut(const std::string &text) {
    return syntax::format(sources, sources.addBuffer(options.output, text), diags);
  }

  SourceManager &sources;
  DiagnosticEngine &diags;
  const std::optional<std::string> &givenText; ///< the text of the configuration
  const ImportOptions &options;
  sema::Library library;
  std::map<std::string, const sema::Unit *> units;
  std::string path;        ///< of the configuration
  bool readsTokens = true; ///< the model has an input `tokens`
  std::optional<FileId> file;
};

} // namespace

std::optional<std::string> importModel(CompilerInstance &instance, const ImportOptions &options) {
  return Importer(instance, options).run();
}

int importCommand(const CommonOptions &common, const ImportOptions &options) {
  CompilerInstance instance(common);
  std::error_code error;
  if (options.writesFile() && stdfs::exists(options.output, error)) {
    instance.diags.report(Code::FileExists, {}, "`" + options.output + "` exists")
        .help("it may contain your changes: remove it, or name another file by `-o`");
    return instance.finish();
  }
  std::optional<std::string> text = importModel(instance, options);
  if (!text)
    return instance.finish(1);
  if (!options.writesFile()) {
    std::cout << *text;
    return instance.finish();
  }
  if (std::error_code why = writeOutput(*text, options.output))
    reportWriteError(instance.diags, options.output, why);
  else
    std::cout << "wrote " << options.output << "; compile it with\n  titanc build "
              << options.output << '\n';
  return instance.finish();
}

} // namespace titan::driver
