// Reads titan-runtime.json; runs compilers and programs.
#include "compiler/driver/Toolchain.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <unistd.h>

namespace titan::driver {

using llvm::sys::path::append;
using llvm::sys::path::parent_path;

/// An installed file contains <prefix> for its installation directory.
static std::string replacePrefix(llvm::StringRef prefix, llvm::StringRef text) {
  std::string replaced = text.str();
  constexpr llvm::StringLiteral mark = "<prefix>";
  for (size_t at; (at = replaced.find(mark)) != std::string::npos;)
    replaced.replace(at, mark.size(), prefix.str());
  return replaced;
}

static std::vector<std::string> readList(const llvm::json::Object &object, llvm::StringRef key) {
  std::vector<std::string> list;
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &value : *array)
      if (auto text = value.getAsString())
        list.push_back(text->str());
  return list;
}

static Toolchain readCpu(const llvm::json::Object &object) {
  std::string compiler = object.getString("compiler")->str();
  return {emission::Target::Cpu,
          compiler,
          compiler,
          readList(object, "include"),
          {},
          readList(object, "compile"),
          readList(object, "link"),
          readList(object, "loads"),
          object.getString("torch").value_or("").str()};
}

/// nvcc flags for emitted lambdas and the constants of kernel_math.h.
static constexpr const char *kNvccFlags[] = {"--extended-lambda", "--expt-relaxed-constexpr"};

static std::optional<Toolchain> readCuda(const llvm::json::Object &object,
                                         DiagnosticEngine &diags) {
  const llvm::json::Object *cuda = object.getObject("cuda");
  if (!cuda || !cuda->getString("nvcc")) {
    diags.report(Code::ToolMissing, {}, "this runtime was built without CUDA")
        .help("configure the build with -DTITAN_CUDA=ON to run on CUDA devices");
    return std::nullopt;
  }
  Toolchain toolchain = readCpu(object);
  toolchain.target = emission::Target::Cuda;
  toolchain.compiler = cuda->getString("nvcc")->str();
  toolchain.compile = readList(*cuda, "compile");
  toolchain.link = readList(*cuda, "link");
  toolchain.include = readList(*cuda, "include");
  toolchain.compile.insert(toolchain.compile.end(), std::begin(kNvccFlags), std::end(kNvccFlags));
  return toolchain;
}

void Toolchain::setOptimization(int level) {
  for (std::string &flag : compile)
    if (llvm::StringRef(flag).starts_with("-O"))
      flag = "-O" + std::to_string(level);
}

/// The first line that a program prints; empty if it fails.
static std::string readLine(const std::string &name, llvm::ArrayRef<llvm::StringRef> words) {
  auto program = llvm::sys::findProgramByName(name);
  llvm::SmallString<128> output;
  if (!program || llvm::sys::fs::createTemporaryFile("titan", "txt", output))
    return "";
  std::vector<llvm::StringRef> arguments{name};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), output.str(),
                                                      llvm::StringRef()};
  const int status =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects, /*seconds=*/20);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  llvm::sys::fs::remove(output);
  return status == 0 && buffer ? (*buffer)->getBuffer().split('\n').first.str() : "";
}

/// The folder of LibTorch's libraries below a folder torch/; empty if there are none.
static std::string findLibraries(llvm::StringRef torch) {
  llvm::SmallString<256> library(torch);
  append(library, "lib", "libtorch_cpu.so");
  return llvm::sys::fs::exists(library) ? parent_path(library).str() : "";
}

/// The folder of LibTorch's libraries on this machine: that of TITAN_TORCH, else the one with which
/// the runtime was built, else that of Python's torch. Empty if there is none.
static std::string findTorch(const std::string &built) {
  if (const char *setting = std::getenv("TITAN_TORCH"); setting && *setting)
    return findLibraries(setting);
  if (built.empty() || llvm::sys::fs::is_directory(built))
    return built;
  const char *python = std::getenv("TITAN_PYTHON");
  // Does not execute torch, which would take seconds.
  return findLibraries(readLine(python && *python ? python : "python3",
                                {"-c", "import importlib.util as u, os; "
                                       "print(os.path.dirname(u.find_spec('torch').origin))"}));
}

/// Replaces the folder of LibTorch, and the one of the packages beside it, by those on this
/// machine. Without its OpenMP library, programs link the compiler's.
static void moveTorch(std::vector<std::string> &words, const std::string &built,
                      const std::string &found) {
  const std::string packages = parent_path(parent_path(built)).str();
  const std::string foundPackages = parent_path(parent_path(found)).str();
  for (std::string &word : words) {
    if (size_t at = word.find(built); at != std::string::npos)
      word.replace(at, built.size(), found);
    else if (at = word.find(packages); at != std::string::npos)
      word.replace(at, packages.size(), foundPackages);
    const bool isOpenMp = llvm::sys::path::filename(word).starts_with("libgomp");
    if (isOpenMp && !llvm::sys::fs::exists(word))
      word = "-fopenmp";
  }
}

/// Adapts the toolchain to the LibTorch of this machine. A CPU program of one process needs none.
static bool adaptToTorch(Toolchain &toolchain, DiagnosticEngine &diags) {
  const std::string built = toolchain.torch, found = findTorch(built);
  const bool isNeeded = toolchain.target == emission::Target::Cuda || std::getenv("TITAN_TORCH");
  if (found.empty() && isNeeded) {
    diags
        .report(Code::ToolMissing, {},
                "cannot find LibTorch: there is no " + built +
                    ", with which the runtime was built, and neither TITAN_TORCH nor python3 "
                    "leads to another one")
        .help("install PyTorch for the python3 in PATH, or set TITAN_TORCH to the folder torch/ of "
              "an installation");
    return false;
  }
  for (std::vector<std::string> *words : {&toolchain.include, &toolchain.link})
    moveTorch(*words, built, found.empty() ? built : found);
  toolchain.torch = found.empty() ? built : found;
  return true;
}

std::optional<Toolchain> Toolchain::find(emission::Target target, DiagnosticEngine &diags) {
  static int symbol;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, &symbol);
  llvm::SmallString<256> path(parent_path(parent_path(self)));
  append(path, "lib", "titan-runtime.json");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    diags.report(Code::ToolMissing, {},
                 "the runtime library is missing: cannot read " + path.str().str() + ": " +
                     buffer.getError().message());
    return std::nullopt;
  }
  llvm::StringRef prefix = parent_path(parent_path(self));
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(replacePrefix(prefix, (*buffer)->getBuffer()));
  const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || !object->getString("compiler")) {
    if (!value)
      llvm::consumeError(value.takeError());
    diags.report(Code::ToolMissing, {}, path.str().str() + " is damaged")
        .help("build the runtime again");
    return std::nullopt;
  }
  std::optional<Toolchain> toolchain =
      target == emission::Target::Cuda ? readCuda(*object, diags) : readCpu(*object);
  if (toolchain && !adaptToTorch(*toolchain, diags))
    return std::nullopt;
  return toolchain;
}

std::string Toolchain::findTorchrun() const {
  // ENV/lib/python3.x/site-packages/torch/lib: ENV/bin/torchrun.
  llvm::StringRef environment = torch;
  for (int i = 0; i < 5; ++i)
    environment = parent_path(environment);
  llvm::SmallString<256> candidate(environment);
  append(candidate, "bin", "torchrun");
  if (llvm::sys::fs::can_execute(candidate))
    return candidate.str().str();
  auto found = llvm::sys::findProgramByName("torchrun");
  return found ? *found : "";
}

int runProgram(const std::vector<std::string> &command, llvm::StringRef errors,
               llvm::StringRef output) {
  auto program = llvm::sys::findProgramByName(command[0]);
  if (!program) {
    std::cerr << "titanc: cannot find " << command[0] << '\n';
    return 127;
  }
  std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  std::string message;
  auto getFile = [](llvm::StringRef file) {
    return file.empty() ? std::nullopt : std::optional(file);
  };
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, getFile(output),
                                                      getFile(errors)};
  int status =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects, 0, 0, &message);
  if (!message.empty())
    std::cerr << "titanc: " << command[0] << ": " << message << '\n';
  return status < 0 ? 127 : status;
}

int execProgram(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str())); // execv does not change it
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execv(command[0].c_str(), arguments.data());
  std::cerr << "titanc: " << command[0] << ": " << std::strerror(errno) << '\n';
  return 127;
}

} // namespace titan::driver
