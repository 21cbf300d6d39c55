// The libFuzzer entry point of parser, checker, formatter and `titanc info`. None may crash on any
// text. Formatting must be idempotent and preserve the syntax tree.
#include "compiler/driver/RunSummary.h"
#include "compiler/syntax/Format.h"
#include "tests/fuzz/Demand.h"

#include <sstream>

using namespace titan;

namespace {

std::string dumpTree(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::ostringstream out;
  syntax::dump(*syntax::parse(sources, sources.addBuffer("tree", text), diags), out);
  return out.str();
}

std::optional<std::string> formatText(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  return syntax::format(sources, sources.addBuffer("format", text), diags);
}

void checkFormat(const std::string &text) {
  std::optional<std::string> once = formatText(text);
  if (!once)
    return;
  demand(formatText(*once) == once, "formatting is not stable");
  demand(dumpTree(*once) == dumpTree(text), "formatting changes the program");
}

void checkProgram(const std::string &text) {
  driver::CommonOptions options;
  options.file = "fuzz.titan";
  options.text = text;
  driver::CompilerInstance all(options);
  all.checkAll();
  std::ostringstream out;
  all.diags.print(out, ColorMode::Always);
  all.diags.printJson(out);
  // Compilation takes a hundred times as long as all other checks: only small programs, and few of
  // them.
  constexpr size_t everyNth = 8;
  constexpr int64_t maxParameters = 1'000'000;
  if (all.diags.hasErrors() || std::hash<std::string>()(text) % everyNth)
    return;
  driver::CompilerInstance instance(options);
  std::optional<sema::CheckedRun> run = instance.check();
  if (run && run->train.parameterCount() < maxParameters)
    driver::makeRunSummary(instance, *run, 0, 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  checkFormat(text);
  checkProgram(text);
  return 0;
}
