// Checks many programs in one process.
//
//   titan-check-programs FILE...
//
// Prints one line per program: verdict, file, result. The diagnostics of a failure or refusal
// follow, indented. Exit status 1 if a program failed.

#include "tests/programs/CheckProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace titan::programs;

static cl::list<std::string> files(cl::Positional, cl::desc("FILE..."), cl::OneOrMore);
static cl::OptionCategory category("titan-check-programs");
static cl::opt<int64_t> autoDegree("auto", cl::init(2), cl::cat(category),
                                   cl::desc("degree of an auto axis"));
static cl::opt<bool> noDifferences("no-differences", cl::cat(category),
                                   cl::desc("trust the gradients"));

static StringRef getWord(Verdict::Kind kind) {
  return kind == Verdict::Equal ? "equal" : kind == Verdict::Refused ? "refused" : "FAILED";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Checks that programs mean the same after every phase\n");
  Options options;
  options.autoDegree = autoDegree;
  options.differences = !noDifferences;
  bool failed = false;
  for (const std::string &file : files) {
    // Printed first, so that the output names the program if the process crashes.
    outs() << "check " << file << '\n';
    outs().flush();
    Verdict verdict = checkProgram(file, options);
    SmallVector<StringRef> lines;
    StringRef(verdict.text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    outs() << getWord(verdict.kind) << ' ' << file << '\n';
    for (StringRef line : lines)
      outs() << "  " << line << '\n';
    failed |= verdict.kind == Verdict::Failed;
  }
  return failed ? 1 : 0;
}
