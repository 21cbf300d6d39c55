// titan-syntax: prints the syntax tree of a .titan file, or its formatted text. For tests and for
// developers of the grammar; users have titanc.
//
//   titan-syntax [--ast | --format] [--diagnostics=json] FILE     (- reads standard input)
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Format.h"

#include <iostream>
#include <iterator>

using namespace titan;

static int usage() {
  std::cerr << "usage: titan-syntax [--ast | --format] [--diagnostics=json] FILE\n";
  return 2;
}

int main(int argc, char **argv) {
  bool format = false, json = false;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--format" || arg == "--ast")
      format = arg == "--format";
    else if (arg == "--diagnostics=json")
      json = true;
    else if (path.empty() && (arg == "-" || arg[0] != '-'))
      path = arg;
    else
      return usage();
  }
  if (path.empty())
    return usage();

  SourceManager sources;
  std::string reason;
  std::optional<FileId> file;
  if (path == "-")
    file = sources.addBuffer("<stdin>", {std::istreambuf_iterator<char>(std::cin), {}});
  else
    file = sources.loadFile(path, reason);
  if (!file) {
    std::cerr << "titan-syntax: cannot read " << path << ": " << reason << '\n';
    return 1;
  }

  DiagnosticEngine diags(sources);
  std::unique_ptr<syntax::Module> module;
  std::optional<std::string> formatted;
  if (format)
    formatted = syntax::format(sources, *file, diags);
  else
    module = syntax::parse(sources, *file, diags);
  json ? diags.printJson(std::cerr) : diags.print(std::cerr);
  if (diags.hasErrors())
    return 1;
  if (formatted)
    std::cout << *formatted;
  else
    syntax::dump(*module, std::cout);
  return 0;
}
