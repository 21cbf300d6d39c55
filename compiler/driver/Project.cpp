// `titanc build --emit=project`: a project that builds without titanc and this tree.
#include "compiler/driver/Build.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The headers that emitted source includes; copyHeaders() finds their includes.
static constexpr llvm::StringLiteral kIncluded[] = {
    "titan/runtime/kernel_cuda.h", "titan/runtime/kernel_loops.h", "titan/runtime/program_table.h"};

/// The headers that a header includes by quoted names: all of these are Titan's.
static std::vector<std::string> listIncludes(llvm::StringRef text) {
  constexpr llvm::StringLiteral begin = "#include \"";
  std::vector<std::string> headers;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.consume_front(begin))
      headers.push_back(line.take_until([](char c) { return c == '"'; }).str());
  return headers;
}

/// The text of a header, from the first of the folders that has it.
static llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readHeader(const Toolchain &toolchain,
                                                                     const std::string &header) {
  for (const std::string &folder : toolchain.headers)
    if (auto text = llvm::MemoryBuffer::getFile(join(folder, header)))
      return text;
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

static std::error_code copyHeaders(const Toolchain &toolchain, const std::string &directory) {
  std::vector<std::string> pending(std::begin(kIncluded), std::end(kIncluded));
  std::set<std::string> copied;
  while (!pending.empty()) {
    std::string header = std::move(pending.back());
    pending.pop_back();
    if (!copied.insert(header).second)
      continue;
    auto text = readHeader(toolchain, header);
    if (!text)
      return text.getError();
    const std::string target = join(directory, "include/" + header);
    if (std::error_code error = fs::create_directories(path::parent_path(target)))
      return error;
    if (std::error_code error = writeOutput((*text)->getBuffer(), target))
      return error;
    llvm::append_range(pending, listIncludes((*text)->getBuffer()));
  }
  return {};
}

/// The prefix of variables in every generated CMakeLists.txt, which identifies a project.
static constexpr llvm::StringLiteral kLibrariesPrefix = "TITAN_LIBRARIES_";

/// Whether a project would replace nothing or only an earlier project.
static bool isFree(const std::string &directory) {
  std::error_code error;
  fs::directory_iterator first(directory, error);
  if (error || first == fs::directory_iterator()) // its creation reports an error
    return true;
  auto earlier = llvm::MemoryBuffer::getFile(join(directory, "CMakeLists.txt"));
  return earlier && (*earlier)->getBuffer().contains(kLibrariesPrefix);
}

/// `text` as one argument of a CMake command, with any content.
static std::string quote(const llvm::Twine &text) {
  std::string quoted = "\"";
  for (char c : text.str()) {
    if (c == '"' || c == '\\' || c == '$' || c == ';')
      quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// The quoted path of a file below the directory that a CMake variable names.
static std::string quoteInFolder(const llvm::Twine &variable, const llvm::Twine &path) {
  return ("\"${" + variable + "}/" + llvm::StringRef(quote(path)).drop_front()).str();
}

static constexpr llvm::StringLiteral kSource = "CMAKE_CURRENT_SOURCE_DIR",
                                     kBinary = "CMAKE_CURRENT_BINARY_DIR";

/// A file name that needs no quoting in any tool. (CMake, make and ninja treat other characters
/// differently.)
static std::string makeFileName(llvm::StringRef stem) {
  std::string name;
  for (char c : stem)
    name += llvm::isAlnum(c) || c == '_' || (!name.empty() && (c == '-' || c == '.' || c == '+'))
                ? c
                : '_';
  return name.empty() ? "program" : name;
}

/// The words of the link line. Static libraries are copied into the project. CMake variables name
/// the directories of LibTorch and CUDA, so they can be changed. Libraries that the program loads
/// are installed beside it.
static std::string getLibraries(const Toolchain &toolchain, std::string &variables) {
  std::string words, rpath = "$ORIGIN";
  std::vector<std::string> directories{toolchain.torch};
  for (llvm::StringRef word : toolchain.link) {
    if (word.starts_with("-Wl,-rpath"))
      continue;
    if (word.ends_with(".a")) {
      words += " " + quoteInFolder(kSource, "lib/" + path::filename(word));
    } else if (path::is_absolute(word)) {
      std::string directory = path::parent_path(word).str();
      size_t at =
          std::find(directories.begin(), directories.end(), directory) - directories.begin();
      if (at == directories.size())
        directories.push_back(directory);
      words += " " + quoteInFolder(kLibrariesPrefix + llvm::Twine(at), path::filename(word));
    } else {
      words += " " + quote(word);
    }
  }
  for (auto [i, directory] : llvm::enumerate(directories)) {
    std::string name = (kLibrariesPrefix + llvm::Twine(i)).str();
    variables +=
        "set(" + name + " " + quote(directory) + " CACHE PATH \"directory of libraries\")\n";
    rpath += ";${" + name + "}";
  }
  variables += "set(CMAKE_BUILD_RPATH \"" + rpath + "\")\n";
  for (llvm::StringRef library : toolchain.loads)
    variables += "configure_file(" + quote("lib/" + path::filename(library)) + " \"${" +
                 kBinary.str() + "}\" COPYONLY)\n";
  return words;
}

/// The name of the target. CMake may reserve the name of the program, so only files have that name.
static constexpr llvm::StringLiteral kTarget = "titan_program";

/// Calls nvcc directly, since older versions of CMake do not know newer versions of CUDA.
static std::string getCudaRule(const std::string &name, const Toolchain &toolchain,
                               const std::string &flags) {
  std::string includes = " \"-I${" + kSource.str() + "}/include\"";
  for (const std::string &include : toolchain.include)
    includes += " " + quote("-I" + include);
  const std::string source = quoteInFolder(kSource, name + ".cu"), object = quote(name + ".o");
  return "find_program(NVCC nvcc HINTS " + quote(path::parent_path(toolchain.compiler)) +
         " REQUIRED)\nadd_custom_command(OUTPUT " + object + "\n  COMMAND \"${NVCC}\"" + flags +
         includes + " -c " + source + " -o " + object + "\n  DEPENDS " + source +
         " VERBATIM)\nadd_executable(" + kTarget.str() + " " + quoteInFolder(kBinary, name + ".o") +
         ")\nset_target_properties(" + kTarget.str() + " PROPERTIES LINKER_LANGUAGE CXX)\n";
}

static std::string getRule(const std::string &name, const std::string &flags) {
  const std::string target = kTarget.str();
  return "add_executable(" + target + " " + quote(name + ".cpp") + ")\ntarget_compile_features(" +
         target + " PRIVATE cxx_std_20)\ntarget_include_directories(" + target +
         " PRIVATE include)\ntarget_compile_options(" + target + " PRIVATE" + flags + ")\n";
}

static std::string makeCMake(const std::string &name, const Toolchain &toolchain) {
  std::string variables, flags;
  std::string libraries = getLibraries(toolchain, variables);
  bool isCuda = toolchain.target == emission::Target::Cuda;
  for (const std::string &flag : toolchain.compile)
    if (isCuda || !llvm::StringRef(flag).starts_with("-std="))
      flags += " " + quote(flag);
  const std::string target = kTarget.str();
  return "cmake_minimum_required(VERSION 3.20)\nproject(" + target + " LANGUAGES CXX)\n" +
         variables + (isCuda ? getCudaRule(name, toolchain, flags) : getRule(name, flags)) +
         "set_target_properties(" + target + " PROPERTIES OUTPUT_NAME " + quote(name) +
         ")\ntarget_link_libraries(" + target + " PRIVATE" + libraries + ")\n";
}

bool writeProject(const std::string &source, llvm::StringRef stem, const std::string &directory,
                  const Toolchain &toolchain, DiagnosticEngine &diags) {
  const std::string name = makeFileName(stem);
  if (!isFree(directory)) {
    diags
        .report(Code::FileExists, {},
                "`" + directory + "` is not empty, and not a project that titanc wrote")
        .help("name another directory: `-o DIR`");
    return false;
  }
  auto attempt = [&]() -> std::error_code {
    if (std::error_code error = fs::create_directories(join(directory, "lib")))
      return error;
    // First, so an incomplete project is still recognised as one.
    if (std::error_code error =
            writeOutput(makeCMake(name, toolchain), join(directory, "CMakeLists.txt")))
      return error;
    std::vector<std::string> copied = toolchain.loads;
    llvm::copy_if(toolchain.link, std::back_inserter(copied),
                  [](llvm::StringRef word) { return word.ends_with(".a"); });
    for (const std::string &file : copied)
      if (std::error_code error = copyOutput(file, join(directory, "lib/" + path::filename(file))))
        return error;
    if (std::error_code error = copyHeaders(toolchain, directory))
      return error;
    return writeOutput(source, join(directory, name + toolchain.sourceSuffix()));
  };
  std::error_code error = attempt();
  if (error)
    diags.report(Code::CannotWriteFile, {},
                 "cannot write the project `" + directory + "`: " + error.message());
  return !error;
}

} // namespace titan::driver
