// `titanc build` and `titanc run`.
#include "compiler/driver/Build.h"
#include "compiler/driver/Compile.h"
#include "compiler/emission/EmitCpp.h"
#include "dialects/dist/IR/AutoAxis.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::optional<std::string> emitSource(Session &session, emission::Target target) {
  std::optional<sema::CheckedRun> run = session.check();
  if (!run)
    return std::nullopt;
  CompilerContext compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module = compile(session, *run, compiler.context, {});
  if (!module)
    return std::nullopt;
  mlir::OwningOpRef<mlir::ModuleOp> undivided;
  if (dist::findAutoAxis(dist::MeshOp::lookup(*module)))
    if (!(undivided = compile(session, *run, compiler.context, {}, 1)))
      return std::nullopt;
  std::string source;
  llvm::raw_string_ostream stream(source);
  DiagnosticScope scope(session, compiler.context);
  if (mlir::failed(emission::emitCpp(*module, undivided.get(), stream, target)))
    return std::nullopt;
  return source;
}

static void cannotWrite(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why) {
  diags.report(Code::CannotWriteFile, {}, "cannot write `" + file.str() + "`: " + why.message());
}

static bool writeFile(llvm::StringRef file, llvm::StringRef content, DiagnosticEngine &diags) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (error) {
    cannotWrite(diags, file, error);
    return false;
  }
  out << content;
  return true;
}

static std::string cacheDirectory() {
  llvm::SmallString<256> directory;
  if (auto cache = llvm::sys::Process::GetEnv("XDG_CACHE_HOME"); cache && !cache->empty())
    directory = *cache;
  else if (!path::cache_directory(directory))
    directory = "/tmp";
  path::append(directory, "titan");
  return directory.str().str();
}

/// The hash of the source, the command, and the libraries' sizes and times.
static std::string hashOf(llvm::StringRef source, const Toolchain &toolchain) {
  llvm::SHA1 hash;
  hash.update(source);
  hash.update(toolchain.compiler);
  for (const auto *list : {&toolchain.include, &toolchain.compile, &toolchain.link})
    for (const std::string &word : *list) {
      hash.update(word);
      fs::file_status status;
      if (!fs::status(word, status) && fs::is_regular_file(status))
        hash.update(std::to_string(status.getSize()) + "," +
                    std::to_string(status.getLastModificationTime().time_since_epoch().count()));
    }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// Compiles and links, in two steps: nvcc does not know the linker's options.
static bool compileProgram(const std::string &file, const std::string &output,
                           const Toolchain &toolchain) {
  std::string object = output + ".o";
  std::vector<std::string> compile{toolchain.compiler};
  for (const std::string &include : toolchain.include)
    compile.push_back("-I" + include);
  compile.insert(compile.end(), toolchain.compile.begin(), toolchain.compile.end());
  compile.insert(compile.end(), {"-c", file, "-o", object});
  std::vector<std::string> link{toolchain.linker, object, "-o", output};
  link.insert(link.end(), toolchain.link.begin(), toolchain.link.end());
  bool succeeded = runProgram(compile) == 0 && runProgram(link) == 0;
  fs::remove(object);
  return succeeded;
}

std::string buildCached(const std::string &source, const std::string &name,
                        const Toolchain &toolchain, DiagnosticEngine &diags) {
  llvm::SmallString<256> directory(cacheDirectory());
  path::append(directory, hashOf(source, toolchain).substr(0, 16));
  llvm::SmallString<256> executable(directory), file(directory);
  path::append(executable, name);
  path::append(file, name + toolchain.sourceSuffix());
  if (fs::can_execute(executable))
    return executable.str().str();
  if (std::error_code error = fs::create_directories(directory)) {
    cannotWrite(diags, directory, error);
    return "";
  }
  if (!writeFile(file, source, diags))
    return "";
  // Compiled under another name first: an interrupted build must not look like a finished one.
  std::string partial = (executable + "." + llvm::Twine(llvm::sys::Process::getProcessId())).str();
  if (!compileProgram(file.str().str(), partial, toolchain) || fs::rename(partial, executable)) {
    diags.report(Code::EmittedDoesNotCompile, {}, "the emitted program does not compile")
        .help("this is a fault of titanc; please report it with " + file.str().str());
    return "";
  }
  return executable.str().str();
}

/// `-arch=sm_90` becomes what the command line asks for.
static void chooseArch(Toolchain &toolchain, const std::string &arch) {
  for (std::string &flag : toolchain.compile)
    if (!arch.empty() && llvm::StringRef(flag).starts_with("-arch="))
      flag = "-arch=" + (arch == "native" ? arch : "sm_" + arch);
}

static std::string stemOf(const CommonOptions &options) {
  return path::stem(options.file).str();
}

int buildCommand(const CommonOptions &options, const BuildOptions &build) {
  Session session(options);
  std::optional<std::string> source = emitSource(session, build.target);
  if (!source)
    return session.finish(1);
  std::string name = stemOf(options);
  std::string output = build.output;
  if (output.empty())
    output = name + (build.emit != EmitKind::Cpp              ? ""
                     : build.target == emission::Target::Cuda ? ".cu"
                                                              : ".cpp");
  if (build.emit == EmitKind::Cpp) {
    if (output == "-")
      llvm::outs() << *source;
    else if (!writeFile(output, *source, session.diags))
      return session.finish(1);
    return session.finish();
  }
  std::optional<Toolchain> toolchain = Toolchain::find(build.target, session.diags);
  if (!toolchain)
    return session.finish(1);
  chooseArch(*toolchain, build.cudaArch);
  if (build.emit == EmitKind::Project)
    return session.finish(writeProject(*source, name, output, *toolchain, session.diags) ? 0 : 1);
  std::string executable =
      buildCached(*source, path::filename(output).str(), *toolchain, session.diags);
  if (executable.empty())
    return session.finish(1);
  // A program that runs may not be overwritten, so the old file goes first.
  fs::remove(output);
  if (std::error_code error = fs::copy_file(executable, output)) {
    cannotWrite(session.diags, output, error);
    return session.finish(1);
  }
  fs::setPermissions(output, fs::all_read | fs::owner_write | fs::all_exe);
  return session.finish();
}

/// How the program is started; empty after an error.
static std::vector<std::string> launchCommand(const Toolchain &toolchain, const RunOptions &run,
                                              const std::string &executable,
                                              DiagnosticEngine &diags) {
  if (run.processes <= 1)
    return {executable};
  std::string torchrun = toolchain.findTorchrun();
  if (torchrun.empty()) {
    diags.report(Code::ToolMissing, {}, "cannot find torchrun, which starts several processes")
        .help("is the environment that scripts/setup made still there?");
    return {};
  }
  return {
      torchrun,  "--no-python", "--standalone", "--nproc-per-node", std::to_string(run.processes),
      executable};
}

int runCommand(const CommonOptions &options, const RunOptions &run) {
  Session session(options);
  std::vector<std::string> command;
  if (std::optional<std::string> source = emitSource(session, run.target))
    if (std::optional<Toolchain> toolchain = Toolchain::find(run.target, session.diags)) {
      std::string executable = buildCached(*source, stemOf(options), *toolchain, session.diags);
      if (!executable.empty())
        command = launchCommand(*toolchain, run, executable, session.diags);
    }
  if (int status = session.finish(command.empty() ? 1 : 0))
    return status;
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  return runProgram(command);
}

} // namespace titan::driver
