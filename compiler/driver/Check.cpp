// `titanc check` and `titanc explain`.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Compile.h"

#include <iostream>

namespace titan::driver {

int checkCommand(const CommonOptions &options, bool verify) {
  CompilerInstance instance(options);
  if (auto checked = instance.checkAll())
    for (const sema::CheckedRun &run : *checked) { // phases report further errors
      CompilerContext compiler;
      compile(instance, run, compiler.context, {});
    }
  return verify ? instance.finishVerify() : instance.finish();
}

int explainCommand(const std::string &text) {
  std::string digits = text.substr(text.find_first_not_of("Tt") == 1 ? 1 : 0);
  const CodeInfo *info =
      findCode("T" + std::string(4 - std::min<size_t>(4, digits.size()), '0') + digits);
  if (!info) {
    std::cerr << "titanc: `" << text << "` is not a diagnostic code; codes look like T0301\n";
    return 2;
  }
  std::cout << codeText(info->code) << ": " << info->title << "\n\n" << info->explanation << '\n';
  return 0;
}

} // namespace titan::driver
