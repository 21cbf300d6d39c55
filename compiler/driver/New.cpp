// `titanc new DIR`: creates a small project from stdlib/start.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <iostream>

namespace titan::driver {

namespace fs = llvm::sys::fs;

int newCommand(const CommonOptions &options, const std::string &directory) {
  CompilerInstance instance(options);
  std::string start = join(findStandardLibrary(), "start");
  const char *const files[] = {"bigram.titan", "corpus.txt"};
  std::error_code error;
  if (fs::directory_iterator first(directory, error); !error && first != fs::directory_iterator()) {
    instance.diags.report(Code::FileExists, {}, "the directory `" + directory + "` is not empty")
        .help("name one that does not exist, or is empty");
    return instance.finish();
  }
  error = fs::create_directories(directory);
  for (const char *file : files)
    if (!error)
      error = copyOutput(join(start, file), join(directory, file));
  if (error) {
    instance.diags.report(Code::CannotWriteFile, {},
                          "cannot make the project `" + directory + "`: " + error.message());
    return instance.finish();
  }
  std::cout << "made " << directory << "; train its model with\n  titanc run "
            << join(directory, files[0]) << '\n';
  return instance.finish();
}

} // namespace titan::driver
