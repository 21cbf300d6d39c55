// `titanc build` and `titanc run`.
#include "compiler/driver/Build.h"
#include "base/data/DataPaths.h"
#include "base/data/TokenIndex.h"
#include "compiler/driver/ModuleFile.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Processes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <filesystem>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
namespace stdfs = std::filesystem; // `fs` is that of LLVM in the driver

constexpr const char *kDataSections[] = {"data", "eval.data"};

/// The data files of a section.
static std::vector<std::string> listFiles(const sema::CheckedRun &run, const std::string &section) {
  const std::string &path = run.run.options.at(section + ".path").value.text;
  if (path.empty())
    return {};
  const bool isIndexed = run.run.findDataFormat(section) == "indexed";
  std::vector<std::string> files;
  for (const DataPath &set : parseDataPaths(path).paths) {
    const std::string prefix = tokenFilePrefix(set.path);
    const bool isText = prefix == set.path && fs::exists(prefix); // the program prepares it
    if (!isIndexed || isText)
      files.push_back(set.path);
    else
      files.insert(files.end(), {prefix + ".idx", prefix + ".bin"});
  }
  return files;
}

/// A path of a setting as it is written: relative to the file, or to the working directory.
static std::string getPathAsWritten(llvm::StringRef path, Location loc,
                                    const SourceManager &sources) {
  std::error_code ignored;
  const stdfs::path folder = stdfs::path(sources.name(loc.file)).parent_path() / ".";
  return stdfs::path(path.str())
      .lexically_relative(stdfs::absolute(folder, ignored).lexically_normal())
      .string();
}

/// The remedy for a missing data file of a section. `mistake`: of a path that was meant as a
/// mixture.
static std::string getHelpForMissingData(llvm::StringRef section, const std::string &mistake,
                                         Code code) {
  const bool trains = section == "data";
  if (!mistake.empty())
    return trains
               ? "as a mixture, it has a mistake: " + mistake +
                     ". A mixture has a weight before each path: \"0.7 web 0.3 code\""
               : "evaluation sets have a name before each path: \"web=valid/web code=valid/code\"";
  if (!trains)
    return "";
  return code == Code::DataMissing
             ? "name another one: `titanc run FILE -- --data PATH`"
             : "the program looks for it when it starts; `--data PATH` names another one";
}

/// Reports missing data files of a run.
static void checkData(const sema::CheckedRun &run, Code code, DiagnosticEngine &diags) {
  for (const std::string section : kDataSections) {
    auto files = listFiles(run, section);
    auto missing = llvm::find_if_not(files, [](auto &file) { return fs::exists(file); });
    if (missing == files.end())
      continue;
    const Location at = run.run.options.at(section + ".path").loc;
    const std::string mistake =
        findMixtureMistake(getPathAsWritten(*missing, at, diags.sourceManager()));
    diags.report(code, at, "there is no file `" + *missing + "`")
        .help(getHelpForMissingData(section, mistake, code));
  }
}

/// The checked run; empty after an error. Missing data are reported with the code `missingData`,
/// if it is given.
static std::optional<sema::CheckedRun> checkRun(CompilerInstance &instance,
                                                std::optional<Code> missingData) {
  std::optional<sema::CheckedRun> run = instance.checkRun();
  if (run && missingData)
    checkData(*run, *missingData, instance.diags);
  return instance.diags.hasErrors() ? std::nullopt : std::move(run);
}

/// Replaces `-arch=sm_90` by the requested architecture.
static void chooseArch(Toolchain &toolchain, const std::string &arch) {
  for (std::string &flag : toolchain.compile)
    if (!arch.empty() && llvm::StringRef(flag).starts_with("-arch="))
      flag = "-arch=" + (arch == "native" ? arch : "sm_" + arch);
}

static std::string getStem(const CommonOptions &options) {
  return path::stem(options.file).str();
}

/// The default output path.
static std::string nameOutput(const CommonOptions &options, const BuildOptions &build) {
  if (build.emit != EmitKind::Cpp)
    return getStem(options);
  return getStem(options) + (build.target == emission::Target::Cuda ? ".cu" : ".cpp");
}

/// All inputs of a build and of its program: Titan files, the configuration file, data.
static std::vector<std::string> listInputs(const CompilerInstance &instance,
                                           const sema::CheckedRun &run) {
  std::vector<std::string> files;
  for (uint32_t i = 0; i < instance.sources.bufferCount(); ++i) // also `--set`, which is no file
    files.emplace_back(instance.sources.name(FileId{i}));
  for (const char *section : kDataSections)
    llvm::append_range(files, listFiles(run, section));
  return files;
}

/// Checks that `output` does not overwrite an input. A device may be read and written.
static bool sparesInputs(CompilerInstance &instance, const std::vector<std::string> &inputs,
                         const std::string &output) {
  auto isOutput = [&](const std::string &input) { return fs::equivalent(input, output); };
  if (!fs::is_regular_file(output) || llvm::none_of(inputs, isOutput))
    return true;
  instance.diags
      .report(Code::FileExists, {},
              "`" + output + "` would be overwritten, and this program reads it")
      .help("name another output: `-o PATH`");
  return false;
}

/// Writes to `output`. Returns false after a reported error.
static bool writeOrReport(llvm::StringRef content, const std::string &output, bool isExecutable,
                          DiagnosticEngine &diags) {
  std::error_code error = writeOutput(content, output, isExecutable ? 0777 : 0666);
  if (error == std::errc::no_such_device_or_address)
    reportWriteError(diags, output, error).help("no process reads this pipe");
  else if (error)
    reportWriteError(diags, output, error);
  return !error;
}

/// The source of the program that `titanc build` was given, as a .titan file or as IR.
static std::optional<std::string> makeSource(CompilerInstance &instance, const BuildOptions &build,
                                             const std::string &output) {
  if (isModuleFile(instance.options))
    return sparesInputs(instance, {instance.options.file}, output)
               ? emitSourceOfModule(instance, build.target)
               : std::nullopt;
  bool runsHere = build.emit == EmitKind::Exe;
  std::optional<sema::CheckedRun> run =
      checkRun(instance, runsHere ? std::optional(Code::DataNotHere) : std::nullopt);
  if (!run || !sparesInputs(instance, listInputs(instance, *run), output))
    return std::nullopt;
  return emitSource(instance, *run, build.target);
}

int buildCommand(const CommonOptions &options, const BuildOptions &build) {
  CompilerInstance instance(options);
  std::string output = build.output.empty() ? nameOutput(options, build) : build.output;
  std::optional<std::string> source = makeSource(instance, build, output);
  if (!source)
    return instance.finish(1);
  std::string name = getStem(options);
  if (build.emit == EmitKind::Cpp) {
    if (output == "-")
      llvm::outs() << *source;
    else
      writeOrReport(*source, output, /*isExecutable=*/false, instance.diags);
    return instance.finish();
  }
  std::optional<Toolchain> toolchain = Toolchain::find(build.target, instance.diags);
  if (!toolchain)
    return instance.finish(1);
  chooseArch(*toolchain, build.cudaArch);
  if (build.optimization)
    toolchain->setOptimization(*build.optimization);
  if (build.emit == EmitKind::Project)
    return instance.finish(writeProject(*source, name, output, *toolchain, instance.diags) ? 0 : 1);
  // Named after the input file, as in `run`, so both commands share cache entries.
  std::string executable = buildCached(*source, name, *toolchain, instance.diags);
  if (executable.empty())
    return instance.finish(1);
  auto content = llvm::MemoryBuffer::getFile(executable);
  if (!content)
    reportWriteError(instance.diags, output, content.getError());
  else
    writeOrReport((*content)->getBuffer(), output, /*isExecutable=*/true, instance.diags);
  return instance.finish();
}

std::vector<std::string> makeLaunchCommand(const Toolchain &toolchain, int64_t processes,
                                           const std::string &executable, DiagnosticEngine &diags) {
  if (processes <= 1)
    return {executable};
  // Without this variable, torchrun would set it to 1 and print a warning. A program under torchrun
  // ignores the value 1 (runtime/lib/launch/Launch.h).
  ::setenv("OMP_NUM_THREADS", "1", /*overwrite=*/0);
  std::string torchrun = toolchain.findTorchrun();
  if (torchrun.empty()) {
    diags.report(Code::ToolMissing, {}, "cannot find torchrun, which starts several processes")
        .help("scripts/setup installs it in the environment of the project");
    return {};
  }
  return {torchrun,  "--no-python", "--standalone", "--nproc-per-node", std::to_string(processes),
          executable};
}

/// Whether the program trains on the data that the .titan file names: no argument of the program
/// names other data or another command.
static bool trainsOnDataOfFile(const RunOptions &run) {
  return llvm::none_of(run.arguments, [](llvm::StringRef argument) {
    return argument.starts_with("--data") || argument.starts_with("--config") ||
           argument.contains("data.path") || argument == "--help" || argument == "-h" ||
           argument == "eval" || argument == "generate" || argument == "export";
  });
}

int runCommand(const CommonOptions &options, const RunOptions &run) {
  CompilerInstance instance(options);
  std::vector<std::string> command;
  std::optional<Code> missing =
      trainsOnDataOfFile(run) ? std::optional(Code::DataMissing) : std::nullopt;
  std::optional<sema::CheckedRun> checked = checkRun(instance, missing);
  int64_t processes =
      !checked || run.processes ? run.processes : computeLeastProcesses(checked->mesh);
  if (!checked || !autoDegree(instance, *checked, processes))
    return instance.finish(1);
  if (std::optional<std::string> source = emitSource(instance, *checked, run.target))
    if (std::optional<Toolchain> toolchain = Toolchain::find(run.target, instance.diags)) {
      if (run.optimization)
        toolchain->setOptimization(*run.optimization);
      std::string executable = buildCached(*source, getStem(options), *toolchain, instance.diags);
      if (!executable.empty())
        command = makeLaunchCommand(*toolchain, processes, executable, instance.diags);
    }
  if (int status = instance.finish(command.empty() ? 1 : 0))
    return status;
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  return execProgram(command);
}

} // namespace titan::driver
