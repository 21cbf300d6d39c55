#include "compiler/sema/runs/DataDims.h"
#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// The dimensions of the inputs that a body declares, each once, in the order of the source. Inputs
/// are outside of repeats.
void collectInputDims(const Body &body, std::vector<std::string> &names) {
  for (const StmtPtr &stmt : body.stmts) {
    if (auto *input = stmt->as<InputStmt>(); input && input->type.dims)
      for (const DimRef &ref : input->type.dims->dims)
        if (const std::string &name = ref.known().text;
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
    if (auto *region = stmt->as<PrecisionStmt>())
      collectInputDims(region->body, names);
    if (auto *choice = stmt->as<IfStmt>()) {
      for (const IfStmt::Branch &branch : choice->branches)
        collectInputDims(branch.body, names);
      if (choice->elseBody)
        collectInputDims(*choice->elseBody, names);
    }
  }
}

/// A dimension by its role in the data.
struct RoleDim {
  const char *role;     ///< "samples", "positions"
  const char *sizePath; ///< the option with its size
  std::string name;
  Location loc;         ///< of the user's declaration; invalid: the standard library's applies
  bool isOfRun = false; ///< by a setting of the run
};

class DataDimsResolver {
public:
  DataDimsResolver(Run &run, const Symbol &model, const Library &library, DiagnosticEngine &diags)
      : run(run), unit(*model.unit), decl(*model.decl->as<ModelDecl>()), library(library),
        diags(diags) {
    collectInputDims(decl.body, inputDims);
  }

  bool resolve(bool hasData) {
    const size_t errorsBefore = diags.errorReports();
    const RoleDim samples = get("samples", "data.batch"), positions = get("positions", "data.seq");
    run.dims.samples = samples.name;
    if (hasPositions(samples, positions))
      run.dims.positions = positions.name;
    if (run.dims.samples == run.dims.positions) {
      reportSame(samples, positions);
      return false;
    }
    if (samples.isOfRun || hasData)
      check(samples);
    if (positions.isOfRun || (hasData && !run.readsArrays()))
      check(positions);
    return diags.errorReports() == errorsBefore;
  }

private:
  RoleDim get(const char *role, const char *sizePath) const {
    const Option &option = run.options.at(std::string("data.") + role);
    RoleDim dim{role, sizePath, option.value.text, option.loc, option.loc.isValid()};
    const Name *initial = library.dataDim(unit, role);
    if (!dim.isOfRun && initial && initial->loc.file == unit.file)
      dim.loc = initial->loc;
    return dim;
  }

  bool isOfInput(const std::string &name) const {
    return std::find(inputDims.begin(), inputDims.end(), name) != inputDims.end();
  }

  /// Samples of tokens have positions. Arrays have positions if the run sets the name or the size
  /// of their dimension, or if an input has the dimension with this role by default.
  bool hasPositions(const RoleDim &samples, const RoleDim &positions) const {
    return !run.readsArrays() || positions.isOfRun || run.options.at("data.seq").loc.isValid() ||
           (isOfInput(positions.name) && positions.name != samples.name);
  }

  void check(const RoleDim &dim) {
    checkSize(dim);
    if (!dim.loc.isValid())
      return;
    auto formal = std::find_if(decl.formals.begin(), decl.formals.end(),
                               [&](const Formal &each) { return each.name.text == dim.name; });
    if (formal != decl.formals.end())
      report(dim, ", which is an argument of model `" + decl.name.text + "`")
          .note(formal->name.loc, "declared here")
          .help("its size is `" + std::string(dim.sizePath) +
                "` of the run: remove the argument, or name another dimension");
    else if (!isOfInput(dim.name))
      suggestName(
          report(dim, ", but no input of model `" + decl.name.text + "` has this dimension"),
          dim.loc, dim.name, inputDims, "the inputs have the dimensions ");
  }

  /// Reports a size by the name of a dimension with a role: `sizePath` is its option.
  void checkSize(const RoleDim &dim) {
    auto size = run.dataSizes.find(dim.name);
    if (size == run.dataSizes.end())
      return;
    diags
        .report(Code::BadDataDimension, size->second.nameLoc,
                std::string(dim.role) + " are along `" + dim.name + "`, so `" + dim.sizePath +
                    "` is the size of this dimension")
        .help("write `" + std::string(dim.sizePath) + "`");
    run.dataSizes.erase(size);
  }

  void reportSame(const RoleDim &samples, const RoleDim &positions) {
    const RoleDim &last = positions.loc.isValid() ? positions : samples;
    const RoleDim &other = positions.loc.isValid() ? samples : positions;
    Diagnostic &diag =
        report(last, std::string(", and so are ") + other.role)
            .help("samples and positions are two dimensions of an input: name another one for one "
                  "of them, `data { " +
                  std::string(other.role) + " = ... }`");
    if (other.loc.isValid())
      diag.note(other.loc, std::string(other.role) + " are given here");
  }

  Diagnostic &report(const RoleDim &dim, const std::string &fault) {
    Diagnostic &diag =
        diags.report(Code::BadDataDimension, dim.loc.isValid() ? dim.loc : run.modelLoc,
                     std::string(dim.role) + " are along `" + dim.name + "`" + fault);
    if (!dim.isOfRun)
      diag.note(run.modelLoc, "for this run");
    return diag;
  }

  Run &run;
  const Unit &unit;
  const ModelDecl &decl;
  const Library &library;
  DiagnosticEngine &diags;
  std::vector<std::string> inputDims;
};

} // namespace

DataDims defaultDataDims(const Unit &unit, const Library &library) {
  const Name *samples = library.dataDim(unit, "samples"),
             *positions = library.dataDim(unit, "positions");
  return {samples ? samples->text : "", positions ? positions->text : ""};
}

bool resolveDataDims(Run &run, bool hasData, const Library &library, DiagnosticEngine &diags) {
  Symbol model = findBaseModel(run.model, library);
  return !model || DataDimsResolver(run, model, library, diags).resolve(hasData);
}

} // namespace titan::sema
