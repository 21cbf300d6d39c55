#include "compiler/driver/Commands.h"

#include <iostream>

namespace titan::driver {

int checkCommand(const CommonOptions &options) {
  Session session(options);
  session.checkAll();
  return session.finish();
}

int explainCommand(const std::string &text) {
  const CodeInfo *info = findCode(text);
  if (!info) {
    std::cerr << "titanc: `" << text << "` is no code of a diagnostic; codes look like T0301\n";
    return 2;
  }
  std::cout << text << ": " << info->title << "\n\n" << info->explanation << '\n';
  return 0;
}

} // namespace titan::driver
