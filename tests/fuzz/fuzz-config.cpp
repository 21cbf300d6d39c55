// The libFuzzer entry point of `titanc import`. A config.json must not crash the import: either an
// error refuses it, or it becomes a program that the checker accepts.
#include "compiler/driver/Commands.h"
#include "tests/fuzz/Demand.h"

#include <sstream>

using namespace titan;

namespace {

/// Aborts with the message and the diagnostics unless `holds`.
void demand(bool holds, const DiagnosticEngine &diags, const std::string &message) {
  if (holds)
    return;
  std::ostringstream out;
  diags.print(out, ColorMode::Never);
  fail(message + '\n' + out.str());
}

void check(const std::string &program) {
  driver::CommonOptions options;
  options.file = "imported.titan";
  options.text = program;
  driver::CompilerInstance instance(options);
  instance.checkAll();
  demand(!instance.diags.hasErrors(), instance.diags, program);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  driver::CommonOptions options;
  options.text = std::string(reinterpret_cast<const char *>(data), size);
  driver::CompilerInstance instance(options);
  driver::ImportOptions import;
  import.input = "small/config.json";
  std::optional<std::string> program = driver::importModel(instance, import);
  std::ostringstream out;
  instance.diags.print(out, ColorMode::Always);
  instance.diags.printJson(out);
  demand(program.has_value() != instance.diags.hasErrors(), instance.diags,
         "refused without an error, or accepted with one");
  if (program)
    check(*program);
  return 0;
}
