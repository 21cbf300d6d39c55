#include "compiler/driver/CacheKey.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA1.h"
#include "llvm/TargetParser/Host.h"

namespace titan::driver {

namespace fs = llvm::sys::fs;

namespace {

class Hash {
public:
  void add(llvm::StringRef text) {
    hash.update(std::to_string(text.size()) + ":"); // so that "ab", "c" differs from "a", "bc"
    hash.update(text);
  }
  /// Adds a path and the size and time of the file.
  void addFile(llvm::StringRef path) {
    add(path);
    fs::file_status status;
    if (fs::status(path, status) || !fs::is_regular_file(status))
      return;
    add(std::to_string(status.getSize()));
    add(std::to_string(status.getLastModificationTime().time_since_epoch().count()));
  }
  /// Adds the program of this name in PATH.
  void addProgram(const std::string &name) {
    auto found = llvm::sys::findProgramByName(name);
    addFile(found ? *found : name);
  }
  std::string take() { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

private:
  llvm::SHA1 hash;
};

bool isForThisProcessor(const std::vector<std::string> &flags) {
  return llvm::any_of(flags, [](llvm::StringRef flag) {
    return flag == "-march=native" || flag == "-mcpu=native";
  });
}

} // namespace

std::string describeProcessor() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features); // a map of strings has no order
  return (llvm::sys::getHostCPUName() + ":" + llvm::join(features, ",")).str();
}

std::string computeCacheKey(llvm::StringRef source, const Toolchain &toolchain,
                            llvm::StringRef processor) {
  Hash hash;
  hash.add(source);
  hash.addProgram(toolchain.compiler);
  hash.addProgram(toolchain.linker); // nvcc compiles host code with it
  for (const auto *list :
       {&toolchain.headers, &toolchain.include, &toolchain.compile, &toolchain.link}) {
    hash.add(std::to_string(list->size()));
    for (const std::string &word : *list)
      hash.addFile(word);
  }
  if (isForThisProcessor(toolchain.compile))
    hash.add(processor);
  return hash.take();
}

} // namespace titan::driver
