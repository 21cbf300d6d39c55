// Compiles an emitted program to an executable in the cache.
#include "compiler/driver/Build.h"
#include "compiler/driver/Cache.h"
#include "compiler/driver/CacheKey.h"
#include "compiler/driver/Notice.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Compiles a source file. If GCC crashes, compiles the file again without the vectorisers.
static bool compileObject(std::vector<std::string> compile, const std::string &object,
                          DiagnosticEngine &diags) {
  const std::string errors = object + ".errors";
  int status = runProgram(compile, errors);
  std::string output;
  if (auto file = llvm::MemoryBuffer::getFile(errors))
    output = (*file)->getBuffer().str();
  fs::remove(errors);
  if (status != 0 && llvm::StringRef(output).contains("internal compiler error")) {
    diags.report(Code::CompilerFails, {},
                 "the C++ compiler reports an internal error; the program is compiled again "
                 "without vectorisation and may be slower");
    compile.insert(compile.end(), {"-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"});
    return runProgram(compile) == 0;
  }
  llvm::errs() << output;
  return status == 0;
}

/// Compiles and links, in two steps: nvcc does not know the linker's options.
static bool compileProgram(const std::string &file, const std::string &output,
                           const Toolchain &toolchain, DiagnosticEngine &diags) {
  std::string object = output + ".o";
  std::vector<std::string> compile{toolchain.compiler};
  for (const auto *folders : {&toolchain.headers, &toolchain.include})
    for (const std::string &folder : *folders)
      compile.push_back("-I" + folder);
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

/// The first nearly full directory of `folders`, with its free space; empty if all have space.
static std::string describeFullFolder(llvm::ArrayRef<llvm::StringRef> folders) {
  constexpr uint64_t enough = uint64_t{64} << 20; // for all files of one compilation
  for (llvm::StringRef folder : folders)
    if (auto space = fs::disk_space(folder); space && space->available < enough)
      return "`" + folder.str() + "` has " + std::to_string(space->available >> 10) + " KiB left";
  return "";
}

/// Reports a failed compilation: a full disk if there is one, or else a fault of titanc.
static void reportFailure(llvm::StringRef source, DiagnosticEngine &diags) {
  llvm::SmallString<128> temporary;
  path::system_temp_directory(/*erasedOnReboot=*/true, temporary);
  std::string full = describeFullFolder({temporary, path::parent_path(source)});
  if (full.empty())
    diags.report(Code::EmittedDoesNotCompile, {}, "the emitted program does not compile")
        .help("this is a bug of titanc; please report it with " + source.str());
  else
    diags.report(Code::CannotWriteFile, {}, "the program cannot be compiled: " + full)
        .help("the C++ compiler writes there: free some space, or set TMPDIR and XDG_CACHE_HOME to "
              "other folders");
}

/// Compiles in a build directory and publishes the executable in the cache entry.
static std::string buildEntry(CacheEntry &entry, const std::string &source, const std::string &name,
                              const Toolchain &toolchain, DiagnosticEngine &diags) {
  std::string folder = entry.makeBuildFolder();
  std::string file = driver::join(folder, name + toolchain.sourceSuffix());
  std::error_code error = folder.empty() ? entry.error() : writeOutput(source, file, 0600);
  if (error) {
    reportWriteError(diags, file, error);
    return "";
  }
  if (!compileProgram(file, driver::join(folder, name), toolchain, diags)) {
    reportFailure(entry.saveSource(file), diags);
    return "";
  }
  if ((error = entry.publish(name, toolchain.sourceSuffix()))) {
    reportWriteError(diags, driver::join(entry.path(), name), error);
    return "";
  }
  return driver::join(entry.path(), name);
}

std::string buildCached(const std::string &source, const std::string &name,
                        const Toolchain &toolchain, DiagnosticEngine &diags) {
  std::optional<Cache> cache = Cache::open(diags);
  if (!cache)
    return "";
  const std::string key = computeCacheKey(source, toolchain, describeProcessor()).substr(0, 16);
  if (std::string found = findCached(*cache, key, name); !found.empty())
    return found;
  std::string executable;
  {
    std::optional<Notice> waiting;
    CacheEntry entry(*cache, key, [&] {
      waiting.emplace("waiting for another titanc, which compiles " + name);
    });
    waiting.reset();
    if (entry.error()) {
      reportWriteError(diags, entry.path(), entry.error());
      return "";
    }
    executable = findCached(*cache, key, name); // built by the process that held the lock
    Notice notice("compiling " + name + "; an unchanged program is not compiled again ...");
    if (executable.empty())
      executable = buildEntry(entry, source, name, toolchain, diags);
  }
  cache->evict(std::chrono::system_clock::now());
  return executable;
}

} // namespace titan::driver
