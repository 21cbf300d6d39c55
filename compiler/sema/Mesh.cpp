#include "compiler/sema/Mesh.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

const std::vector<std::string> kinds = {"params", "grads", "optimizer"};

class Builder {
public:
  Builder(const Run &run, const Library &library, DiagnosticEngine &diags)
      : run(run), library(library), diags(diags) {}

  Mesh build(const ParallelDecl &decl) {
    constexpr size_t most = 64;
    for (const AxisDecl &axis : decl.axes)
      if (&axis - decl.axes.data() >= static_cast<ptrdiff_t>(most) ||
          axis.splits.size() + axis.elseSplits.size() > most) {
        diags.report(Code::TooManyAxes, axis.loc,
                     "a mesh has at most " + std::to_string(most) +
                         " axes, and an axis splits at most as many dimensions");
        return mesh;
      }
    for (const AxisDecl &axis : decl.axes)
      addAxis(axis);
    checkDegreeNames(decl.name);
    return std::move(mesh);
  }

  Mesh buildDefault() {
    Axis shard;
    shard.name = "shard";
    shard.splits = {"batch"};
    shard.stores = kinds;
    shard.splitLocs = {Location()};
    setDegree(nullptr, shard);
    mesh.axes.push_back(std::move(shard));
    checkDegreeNames({"the default map", {}});
    return std::move(mesh);
  }

private:
  std::vector<std::string> axisNames() const {
    std::vector<std::string> names;
    for (const Axis &axis : mesh.axes)
      names.push_back(axis.name);
    return names;
  }

  void checkDegreeNames(const Name &map) {
    for (const auto &[name, option] : run.degrees)
      if (std::none_of(mesh.axes.begin(), mesh.axes.end(),
                       [&](const Axis &axis) { return axis.name == name; }))
        diags
            .report(Code::UnknownOption, option.loc,
                    "`" + map.text + "` has no axis `" + name + "`")
            .note(map.loc, "its axes are " + listNames(axisNames()));
  }

  void addAxis(const AxisDecl &decl) {
    Axis axis;
    axis.name = decl.name.text;
    axis.loc = decl.name.loc;
    for (const Axis &other : mesh.axes)
      if (other.name == axis.name)
        diags.report(Code::AxisTwice, decl.name.loc, "axis `" + axis.name + "` exists already")
            .note(other.loc, "the first one is here");
    for (const Path &path : decl.splits) {
      axis.splits.push_back(path.text());
      axis.splitLocs.push_back(path.loc);
    }
    for (const Path &path : decl.elseSplits) {
      axis.otherwise.push_back(path.text());
      axis.splitLocs.push_back(path.loc);
    }
    addStores(decl, axis);
    for (const Setting &option : decl.options)
      if (option.path.text() == "pad" && option.value)
        addPads(*option.value, axis);
      else
        diags
            .report(Code::UnknownAxisOption, option.path.loc,
                    "an axis has no option `" + option.path.text() + "`")
            .help("the options of an axis: `pad = NAME`, `pad = [NAME, NAME]`");
    axis.degreeLoc = decl.degree ? decl.degree->loc : decl.loc;
    setDegree(decl.degree.get(), axis);
    mesh.axes.push_back(std::move(axis));
  }

  /// The name of a dimension, or a list of such.
  void addPads(const Expr &expr, Axis &axis) {
    if (auto *list = expr.as<ListExpr>()) {
      for (const ExprPtr &element : list->elements)
        addPads(*element, axis);
      return;
    }
    std::vector<std::string> known = axis.splits;
    known.insert(known.end(), axis.otherwise.begin(), axis.otherwise.end());
    auto *name = expr.as<NameExpr>();
    std::string text = name ? name->path.text() : "";
    if (std::find(known.begin(), known.end(), text) != known.end()) {
      axis.pads.push_back(text);
      axis.padLocs.push_back(expr.loc);
      return;
    }
    Diagnostic &diag = diags.report(Code::BadPadding, expr.loc,
                                    name ? "axis `" + axis.name + "` does not split `" + text + "`"
                                         : std::string("`pad` takes names of dimensions"));
    if (std::string near = nearestName(text, known); name && !near.empty())
      diag.fix(expr.loc, near);
    else
      diag.help("it splits " + listNames(known));
  }

  void addStores(const AxisDecl &decl, Axis &axis) {
    for (const Name &name : decl.stores) {
      if (std::find(kinds.begin(), kinds.end(), name.text) == kinds.end()) {
        Diagnostic &diag = diags.report(Code::UnknownStore, name.loc,
                                        "`" + name.text + "` is nothing that can be stored");
        if (std::string near = nearestName(name.text, kinds); !near.empty())
          diag.fix(name.loc, near);
        else
          diag.help("an axis can store " + listNames(kinds));
        continue;
      }
      axis.stores.push_back(name.text);
    }
  }

  /// Without an expression: `auto`.
  void setDegree(const Expr *written, Axis &axis) {
    Value degree = Value::ofWord("auto");
    if (auto given = run.degrees.find(axis.name); given != run.degrees.end()) {
      degree = given->second.value;
      axis.degreeLoc = given->second.loc;
    } else if (written && written->is<TupleExpr>()) {
      diags
          .report(Code::BadDegree, axis.degreeLoc,
                  "an axis cannot be made of other axes yet: `" + axis.name +
                      "` needs a degree of its own")
          .help("a degree is a positive integer or `auto`");
      axis.degree = 1;
      return;
    } else if (written) {
      degree = Elaborator::evalConstant(*written, library, *run.parallel.unit, diags);
    }
    if (degree.isWord("auto"))
      return checkAuto(axis);
    constexpr int64_t mostRanks = 1 << 24;
    if (degree.isInt() && degree.integer >= 1 && degree.integer <= mostRanks) {
      axis.degree = degree.integer;
      return checkUse(axis);
    }
    axis.degree = 1;
    if (!degree.isError())
      diags.report(Code::BadDegree, axis.degreeLoc,
                   "a degree is a positive integer or `auto`, not " + degree.print());
  }

  void checkAuto(Axis &axis) {
    bool onlyBatch = axis.otherwise.empty() &&
                     std::all_of(axis.splits.begin(), axis.splits.end(),
                                 [](const std::string &name) { return name == "batch"; });
    if (!onlyBatch)
      diags.report(Code::AutoDegree, axis.degreeLoc,
                   "the degree of `" + axis.name + "` must be known: it splits more than `batch`");
    for (const Axis &other : mesh.axes)
      if (other.degree == 0)
        diags.report(Code::AutoDegree, axis.degreeLoc, "a second axis cannot be `auto`")
            .note(other.degreeLoc, "this one is");
    checkUse(axis);
  }

  void checkUse(const Axis &axis) {
    if (axis.degree == 1 || !axis.splits.empty() || !axis.otherwise.empty() || !axis.stores.empty())
      return;
    diags.report(Code::UselessAxis, axis.loc, "axis `" + axis.name + "` splits and stores nothing")
        .help("add `splits batch`, or remove it");
  }

  const Run &run;
  const Library &library;
  DiagnosticEngine &diags;
  Mesh mesh;
};

} // namespace

bool isPadded(const std::vector<Axis> &axes, const std::string &dim) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) {
    return std::find(axis.pads.begin(), axis.pads.end(), dim) != axis.pads.end();
  });
}

int64_t paddedSize(const std::vector<Axis> &axes, const std::string &dim, int64_t size) {
  if (!isPadded(axes, dim) || size == 1)
    return size;
  int64_t parts = 1;
  for (const Axis &axis : axes)
    for (const auto *names : {&axis.splits, &axis.otherwise})
      if (axis.degree > 1 && std::find(names->begin(), names->end(), dim) != names->end())
        parts *= axis.degree;
  return (size + parts - 1) / parts * parts;
}

std::optional<Mesh> resolveMesh(const Run &run, const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  Builder builder(run, library, diags);
  Mesh mesh =
      run.parallel ? builder.build(*run.parallel.decl->as<ParallelDecl>()) : builder.buildDefault();
  return diags.errorReports() == errorsBefore ? std::optional(std::move(mesh)) : std::nullopt;
}

} // namespace titan::sema
