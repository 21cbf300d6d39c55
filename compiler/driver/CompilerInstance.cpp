#include "compiler/driver/CompilerInstance.h"

#include "compiler/diagnostics/ExpectedDiagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <iostream>

namespace titan::driver {
namespace {

sema::CheckRequest makeRequest(const CommonOptions &options) {
  sema::CheckRequest request;
  request.file = options.file;
  request.train = options.train;
  request.model = options.model;
  request.config = options.config;
  request.overrides = options.overrides;
  request.searchDirs = options.searchDirs;
  request.searchDirs.push_back(findStandardLibrary());
  return request;
}

ColorMode chooseColorMode(const std::string &word) {
  if (word == "auto")
    return std::getenv("NO_COLOR") ? ColorMode::Never : ColorMode::Auto;
  return word == "always" ? ColorMode::Always : ColorMode::Never;
}

} // namespace

std::string findStandardLibrary() {
  static int symbol;
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, &symbol);
  llvm::SmallString<128> installed(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(installed, "..", "share", "titan", "stdlib");
  llvm::sys::path::remove_dots(installed, /*remove_dot_dot=*/true);
  return llvm::sys::fs::is_directory(installed) ? std::string(installed.str())
                                                : TITAN_SOURCE_STDLIB;
}

CompilerInstance::CompilerInstance(const CommonOptions &options)
    : options(options), request(makeRequest(options)), checker(sources, diags, request) {
  diags.setWarningsAsErrors(options.warningsAsErrors);
  if (options.text)
    request.text = sources.addBuffer(options.file, *options.text);
}

std::optional<sema::CheckedRun> CompilerInstance::check() {
  return checker.load() ? checker.check() : std::nullopt;
}

std::optional<sema::CheckedRun> CompilerInstance::checkRun() {
  request.needsRun = true;
  return check();
}

std::optional<std::vector<sema::CheckedRun>> CompilerInstance::checkAll() {
  return checker.load() ? checker.checkAll() : std::nullopt;
}

int CompilerInstance::print(const DiagnosticEngine &engine, int status) const {
  if (options.jsonDiagnostics) {
    engine.printJson(std::cerr);
  } else {
    engine.print(std::cerr, chooseColorMode(options.color));
    engine.printSummary(std::cerr);
  }
  return engine.hasErrors() ? 1 : status;
}

int CompilerInstance::finish(int status) {
  return print(diags, status);
}

int CompilerInstance::finishVerify() {
  DiagnosticEngine mismatches(sources);
  verifyExpectedDiagnostics(diags, mismatches);
  return print(mismatches, 0);
}

} // namespace titan::driver
