// Overrides of a map for single tensors: `parameters "*norm" { shard stores none }`. Patterns are
// resolved to names here, so no later phase knows patterns.
#include "compiler/sema/mesh/Mesh.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <map>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

const std::vector<std::string> overridable = {"parameters", "values"};

class OverrideReader {
public:
  OverrideReader(Mesh &mesh, DiagnosticEngine &diags) : mesh(mesh), diags(diags) {}

  void read(const OverrideDecl &decl) {
    if (std::find(overridable.begin(), overridable.end(), decl.kind.text) == overridable.end()) {
      Diagnostic &diag = diags.report(Code::UnknownOverride, decl.kind.loc,
                                      "a map cannot override `" + decl.kind.text + "`");
      suggestName(diag, decl.kind.loc, decl.kind.text, overridable,
                  "a map can override the axes for ");
      return;
    }
    if (decl.lines.empty())
      diags
          .report(Code::OverrideWithoutEffect, decl.pattern.loc,
                  "no override is given for the " + decl.kind.text + " that match `" +
                      decl.pattern.text + "`")
          .help("add a line such as `AXIS splits none`, or remove the section");
    for (const OverrideDecl::Line &line : decl.lines)
      addLine(decl, line);
  }

private:
  void addLine(const OverrideDecl &decl, const OverrideDecl::Line &line) {
    MeshOverride made;
    made.ofParameters = decl.kind.text == overridable[0];
    made.pattern = decl.pattern.text;
    made.patternLoc = decl.pattern.loc;
    made.axis = line.axis.text;
    made.loc = line.loc;
    if (!isAxis(line.axis) || !hasEffect(made, line) || !checkPadding(line))
      return;
    AxisLists lists = readUse(line.use, diags);
    if (line.use.splits) {
      made.splits = std::move(lists.splits);
      made.splits->insert(made.splits->end(), lists.fallback.begin(), lists.fallback.end());
      made.splitLocs = std::move(lists.splitLocs);
    }
    if (line.use.stores)
      made.stores = std::move(lists.stores);
    mesh.overrides.push_back(std::move(made));
  }

  bool isAxis(const Name &name) {
    std::vector<std::string> names;
    for (const Axis &axis : mesh.axes)
      names.push_back(axis.name);
    if (std::find(names.begin(), names.end(), name.text) != names.end())
      return true;
    Diagnostic &diag =
        diags.report(Code::UnknownAxis, name.loc, "the map has no axis `" + name.text + "`");
    suggestName(diag, name.loc, name.text, names, "its axes are ");
    return false;
  }

  /// Reports a padded dimension that an axis with an unknown degree splits, and returns false.
  bool checkPadding(const OverrideDecl::Line &line) {
    auto axis = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                             [&](const Axis &each) { return each.name == line.axis.text; });
    if (axis->degree != 0 || !line.use.splits)
      return true;
    for (const Path &path : *line.use.splits)
      if (isPadded(mesh.axes, path.text())) {
        diags
            .report(Code::AutoDegree, line.loc,
                    "the degree of `" + axis->name + "` must be known: this splits `" +
                        path.text() + "`, which is padded")
            .note(axis->degreeLoc, "it is `auto`");
        return false;
      }
    return true;
  }

  bool hasEffect(const MeshOverride &made, const OverrideDecl::Line &line) {
    std::string what = !line.use.splits && !line.use.stores
                           ? "the line has no override for axis `" + made.axis + "`"
                       : line.use.stores && !made.ofParameters
                           ? "only parameters are stored, not values"
                           : "";
    if (!what.empty())
      diags.report(Code::OverrideWithoutEffect, line.loc, what)
          .help("write `" + made.axis + " splits ...`" +
                (made.ofParameters ? ", `" + made.axis + " stores ...`, or both" : "") +
                "; `none` for nothing");
    return what.empty();
  }

  Mesh &mesh;
  DiagnosticEngine &diags;
};

/// The names that an override may match in some models, with the dimensions of each tensor.
class Tensors {
public:
  explicit Tensors(const std::vector<const Model *> &models) {
    for (const Model *model : models) {
      for (const Parameter &parameter : model->parameters)
        add(/*ofParameters=*/true, parameter.name, *model, parameter.type.dims);
      for (const Input &input : model->inputs)
        add(/*ofParameters=*/false, input.name, *model, input.type.dims);
      addRegion(*model, model->body);
    }
  }

  const std::map<std::string, std::set<std::string>> &get(bool parameters) const {
    return named[parameters];
  }

private:
  void add(bool ofParameters, const std::string &name, const Model &model, const DimSet &dims) {
    if (name.empty())
      return;
    std::set<std::string> &all = named[ofParameters][name];
    for (DimId id : dims) {
      all.insert(model.dims[id].name);
      all.insert(model.dims[model.dims[id].origin].name);
    }
  }

  void addRegion(const Model &model, const Region &region) {
    for (const Op &op : region.ops) {
      const std::vector<ValueId> &values = op.kind == OpKind::Repeat ? op.operands : op.results;
      for (size_t i = 0; i < op.names.size(); ++i)
        add(/*ofParameters=*/false, op.names[i], model, model.values[values[i]].type.dims);
      for (const Region &body : op.body)
        addRegion(model, body);
    }
  }

  std::map<std::string, std::set<std::string>> named[2]; ///< values, parameters
};

void checkSplits(const MeshOverride &entry, const std::set<std::string> &dims,
                 DiagnosticEngine &diags) {
  for (size_t i = 0; entry.splits && i < entry.splits->size(); ++i) {
    const std::string &name = (*entry.splits)[i];
    if (dims.count(name))
      continue;
    Diagnostic &diag =
        diags.report(Code::UnknownSplit, entry.splitLocs[i],
                     "axis `" + entry.axis + "` splits `" + name + "`, but nothing that matches `" +
                         entry.pattern + "` has such a dimension");
    std::vector<std::string> known(dims.begin(), dims.end());
    suggestName(diag, entry.splitLocs[i], name, known, "its dimensions are ");
  }
}

bool matchOverride(MeshOverride &entry, const Tensors &tensors, DiagnosticEngine &diags) {
  std::set<std::string> dims;
  std::vector<std::string> known;
  for (const auto &[name, tensorDims] : tensors.get(entry.ofParameters)) {
    known.push_back(name);
    if (!matchesGlob(entry.pattern, name))
      continue;
    entry.tensors.push_back(name);
    dims.insert(tensorDims.begin(), tensorDims.end());
  }
  if (!entry.tensors.empty()) {
    checkSplits(entry, dims, diags);
    return true;
  }
  const char *what = entry.ofParameters ? "parameter" : "value";
  Diagnostic &diag =
      diags.report(Code::UnknownGroupPattern, entry.patternLoc,
                   std::string("no ") + what + "'s name matches `" + entry.pattern + "`");
  if (std::string near = nearestName(entry.pattern, known); !near.empty())
    diag.fix(entry.patternLoc, "\"" + near + "\"");
  else
    diag.help("`titanc info` lists the names");
  return false;
}

} // namespace

void readOverrides(const std::vector<OverrideDecl> &decls, Mesh &mesh, DiagnosticEngine &diags) {
  constexpr size_t most = 256;
  for (const OverrideDecl &decl : decls) {
    if (mesh.overrides.size() + decl.lines.size() > most) {
      diags.report(Code::TooManyAxes, decl.pattern.loc,
                   "a map overrides in at most " + std::to_string(most) + " lines");
      return;
    }
    OverrideReader(mesh, diags).read(decl);
  }
}

void matchOverrides(Mesh &mesh, const std::vector<const Model *> &models, DiagnosticEngine &diags) {
  if (mesh.overrides.empty())
    return;
  const Tensors tensors(models);
  Location unmatched;
  for (MeshOverride &entry : mesh.overrides)
    if (!(entry.patternLoc == unmatched) && !matchOverride(entry, tensors, diags))
      unmatched = entry.patternLoc; // reported once for all its lines
  // The last override decides, so an earlier one may have no effect.
  // Of parameters, tensor, axis, `stores` instead of `splits`.
  using Decided = std::tuple<bool, std::string, std::string, bool>;
  std::map<Decided, Location> decided;
  for (auto entry = mesh.overrides.rbegin(); entry != mesh.overrides.rend(); ++entry) {
    bool decidesAny = entry->tensors.empty();
    Location later;
    for (const std::string &name : entry->tensors)
      for (bool isStorage : {false, true}) {
        if (!(isStorage ? entry->stores : entry->splits))
          continue;
        auto [other, fresh] = decided.try_emplace(
            Decided{entry->ofParameters, name, entry->axis, isStorage}, entry->loc);
        decidesAny |= fresh;
        later = other->second;
      }
    if (!decidesAny)
      diags
          .report(Code::OverrideWithoutEffect, entry->loc,
                  "this line has no effect: a later line for the same tensors replaces it")
          .note(later, "the later line is here");
  }
}

const MeshOverride *findOverride(const Mesh &mesh, const Axis &axis, bool ofParameters,
                                 const std::string &name) {
  for (auto entry = mesh.overrides.rbegin(); entry != mesh.overrides.rend(); ++entry)
    if (entry->axis == axis.name && entry->ofParameters == ofParameters && entry->splits &&
        std::find(entry->tensors.begin(), entry->tensors.end(), name) != entry->tensors.end())
      return &*entry;
  return nullptr;
}

} // namespace titan::sema
