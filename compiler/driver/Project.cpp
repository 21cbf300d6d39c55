// `titanc build --emit=project`: a directory that needs neither titanc nor this tree to build.
#include "compiler/driver/Build.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string join(llvm::StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<256> file(directory);
  path::append(file, name);
  return file.str().str();
}

static std::error_code put(const std::string &file, llvm::StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (!error)
    out << content;
  return error;
}

/// The headers that emitted source includes, directly or not.
static constexpr const char *kHeaders[] = {"kernel_math.h", "program.h", "vector_math.h"};

static std::error_code copyHeaders(const Toolchain &toolchain, const std::string &directory) {
  std::string target = join(directory, "include/titan/runtime");
  if (std::error_code error = fs::create_directories(target))
    return error;
  for (const char *header : kHeaders)
    if (std::error_code error =
            fs::copy_file(join(toolchain.include[0], llvm::Twine("titan/runtime/") + header),
                          join(target, header)))
      return error;
  return {};
}

/// Static libraries are copied; LibTorch is named by its directory, which CMake may be told anew.
static std::string makeCMake(const std::string &name, const Toolchain &toolchain) {
  std::string libraries, others, torch;
  for (llvm::StringRef word : toolchain.link) {
    if (word.ends_with(".a")) {
      libraries += " ${CMAKE_CURRENT_SOURCE_DIR}/lib/" + path::filename(word).str();
    } else if (path::is_absolute(word)) {
      torch = path::parent_path(word).str();
      others += " ${TITAN_TORCH_LIB}/" + path::filename(word).str();
    } else if (!word.starts_with("-Wl,-rpath")) {
      others += " " + word.str();
    }
  }
  std::string flags;
  for (const std::string &flag : toolchain.compile)
    if (!llvm::StringRef(flag).starts_with("-std="))
      flags += " " + flag;
  return "cmake_minimum_required(VERSION 3.20)\n"
         "project(" +
         name +
         " LANGUAGES CXX)\n"
         "set(TITAN_TORCH_LIB \"" +
         torch +
         "\" CACHE PATH \"directory of LibTorch's libraries\")\n"
         "add_executable(" +
         name + " " + name +
         ".cpp)\n"
         "target_compile_features(" +
         name +
         " PRIVATE cxx_std_20)\n"
         "target_include_directories(" +
         name +
         " PRIVATE include)\n"
         "target_compile_options(" +
         name + " PRIVATE" + flags +
         ")\n"
         "target_link_libraries(" +
         name + " PRIVATE" + libraries + others +
         ")\n"
         "set_target_properties(" +
         name + " PROPERTIES BUILD_RPATH \"${TITAN_TORCH_LIB}\")\n";
}

bool writeProject(const std::string &source, const std::string &name, const std::string &directory,
                  const Toolchain &toolchain) {
  auto attempt = [&]() -> std::error_code {
    if (std::error_code error = fs::create_directories(join(directory, "lib")))
      return error;
    for (llvm::StringRef word : toolchain.link)
      if (word.ends_with(".a"))
        if (std::error_code error =
                fs::copy_file(word, join(directory, "lib/" + path::filename(word))))
          return error;
    if (std::error_code error = copyHeaders(toolchain, directory))
      return error;
    if (std::error_code error = put(join(directory, name + ".cpp"), source))
      return error;
    return put(join(directory, "CMakeLists.txt"), makeCMake(name, toolchain));
  };
  std::error_code error = attempt();
  if (error)
    std::cerr << "titanc: cannot write the project " << directory << ": " << error.message()
              << '\n';
  return !error;
}

} // namespace titan::driver
