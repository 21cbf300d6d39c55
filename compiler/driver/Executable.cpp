// From emitted source to an executable in the cache.
#include "compiler/driver/Build.h"
#include "compiler/driver/CacheKey.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

void cannotWrite(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why) {
  diags.report(Code::CannotWriteFile, {}, "cannot write `" + file.str() + "`: " + why.message());
}

bool writeFile(llvm::StringRef file, llvm::StringRef content, DiagnosticEngine &diags) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (error) {
    cannotWrite(diags, file, error);
    return false;
  }
  out << content;
  out.close();
  if (!out.has_error())
    return true;
  cannotWrite(diags, file, out.error());
  out.clear_error(); // it is reported by us
  return false;
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

/// Says what takes seconds, on a terminal, for as long as it does.
class Notice {
public:
  explicit Notice(const llvm::Twine &text) : isShown(llvm::errs().is_displayed()) {
    if (isShown)
      llvm::errs() << text;
  }
  ~Notice() {
    if (isShown)
      llvm::errs() << "\r\033[K";
  }

private:
  bool isShown;
};

/// Compiles; once more without GCC's vectorisers where these fail by a fault of their own.
static bool compileObject(std::vector<std::string> compile, const std::string &object,
                          DiagnosticEngine &diags) {
  const std::string errors = object + ".errors";
  int status = runProgram(compile, errors);
  std::string said;
  if (auto file = llvm::MemoryBuffer::getFile(errors))
    said = (*file)->getBuffer().str();
  fs::remove(errors);
  if (status != 0 && llvm::StringRef(said).contains("internal compiler error")) {
    diags.report(Code::CompilerFails, {},
                 "the C++ compiler fails by a fault of its own; the program is compiled without "
                 "vectorisation, and may be slower");
    compile.insert(compile.end(), {"-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"});
    return runProgram(compile) == 0;
  }
  llvm::errs() << said;
  return status == 0;
}

/// Compiles and links, in two steps: nvcc does not know the linker's options.
static bool compileProgram(const std::string &file, const std::string &output,
                           const Toolchain &toolchain, DiagnosticEngine &diags) {
  std::string object = output + ".o";
  std::vector<std::string> compile{toolchain.compiler};
  for (const std::string &include : toolchain.include)
    compile.push_back("-I" + include);
  compile.insert(compile.end(), toolchain.compile.begin(), toolchain.compile.end());
  compile.insert(compile.end(), {"-c", file, "-o", object});
  std::vector<std::string> link{toolchain.linker, object, "-o", output};
  link.insert(link.end(), toolchain.link.begin(), toolchain.link.end());
  bool compiled = toolchain.target == emission::Target::Cpu ? compileObject(compile, object, diags)
                                                            : runProgram(compile) == 0;
  bool succeeded = compiled && runProgram(link) == 0;
  fs::remove(object);
  return succeeded;
}

/// The folder of these that has hardly any room left, with what is left; empty if all have.
static std::string describeFullFolder(llvm::ArrayRef<llvm::StringRef> folders) {
  constexpr uint64_t enough = uint64_t{64} << 20; // for all that compilers write of one program
  for (llvm::StringRef folder : folders)
    if (auto space = fs::disk_space(folder); space && space->available < enough)
      return "`" + folder.str() + "` has " + std::to_string(space->available >> 10) + " KiB left";
  return "";
}

/// What is emitted must compile, unless there is no room for what comes of it.
static void reportFailure(llvm::StringRef source, DiagnosticEngine &diags) {
  llvm::SmallString<128> temporary;
  path::system_temp_directory(/*erasedOnReboot=*/true, temporary);
  std::string full = describeFullFolder({temporary, path::parent_path(source)});
  if (full.empty())
    diags.report(Code::EmittedDoesNotCompile, {}, "the emitted program does not compile")
        .help("this is a fault of titanc; please report it with " + source.str());
  else
    diags.report(Code::CannotWriteFile, {}, "the program cannot be compiled: " + full)
        .help("compilers write there: make room, or name other folders by TMPDIR and "
              "XDG_CACHE_HOME");
}

std::string buildCached(const std::string &source, const std::string &name,
                        const Toolchain &toolchain, DiagnosticEngine &diags) {
  llvm::SmallString<256> directory(cacheDirectory());
  path::append(directory, cacheKey(source, toolchain, describeProcessor()).substr(0, 16));
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
  Notice notice("compiling " + name + "; what is unchanged is not compiled again ...");
  // Compiled under another name first: an interrupted build must not look like a finished one.
  std::string partial = (executable + "." + llvm::Twine(llvm::sys::Process::getProcessId())).str();
  if (!compileProgram(file.str().str(), partial, toolchain, diags) ||
      fs::rename(partial, executable)) {
    reportFailure(file, diags);
    return "";
  }
  return executable.str().str();
}

} // namespace titan::driver
