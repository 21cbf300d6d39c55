// `titanc info`: what is known of a run before it runs.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Facts.h"
#include "compiler/sema/modules/Suggest.h"

namespace titan::driver {

std::string publicName(const sema::Parameter &parameter) {
  std::string name;
  size_t repeat = 0;
  int64_t number = 0;
  for (llvm::StringRef rest = parameter.name; !rest.empty(); ++number) {
    auto [part, behind] = rest.split('.');
    name += (name.empty() ? "" : ".") + part.str();
    if (repeat < parameter.repeats.size() && parameter.repeatParts[repeat] == number) {
      name += ".{l}";
      ++repeat;
    }
    rest = behind;
  }
  return name;
}

std::vector<std::pair<const sema::Dim *, int64_t>> paddedDims(const sema::CheckedRun &run) {
  std::vector<std::pair<const sema::Dim *, int64_t>> found;
  for (sema::DimId id = 0; id < run.train.dims.size(); ++id) {
    const sema::Dim &dim = run.train.dims[id];
    if (int64_t size = sema::paddedSize(run.mesh.axes, dim.name, dim.size); size != dim.size)
      found.push_back({&dim, size});
  }
  return found;
}

int infoCommand(const CommonOptions &options, const InfoOptions &info) {
  if (info.options && options.file.empty()) {
    printOptions(nullptr, options.json);
    return 0;
  }
  Session session(options);
  std::optional<sema::CheckedRun> run = session.check();
  if (info.options) {
    if (run)
      printOptions(&*run, options.json);
    return session.finish(run ? 0 : 1);
  }
  std::optional<Facts> facts;
  if (run)
    facts = gatherFacts(session, *run, info.processes, info.threads);
  if (!facts)
    return session.finish(1);
  options.json ? printJson(*run, *facts) : printText(*run, *facts);
  if (info.byLine && !options.json)
    printLines(llvm::outs(), *facts, session.sources);
  std::vector<std::string> models = session.choosable();
  if (!options.json && options.model.empty() && options.train.empty() && models.size() > 1)
    llvm::outs() << "\n`--model NAME` looks at another model: " << sema::listNames(models) << '\n';
  return session.finish(0);
}

} // namespace titan::driver
