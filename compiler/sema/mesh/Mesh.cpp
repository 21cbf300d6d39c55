#include "compiler/sema/mesh/Mesh.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

const std::vector<std::string> storable = {"params", "grads", "optimizer"};
constexpr int64_t maxRanks = 1 << 24; // beyond any machine; products of two fit int64_t

class MeshBuilder {
public:
  MeshBuilder(const Run &run, const Library &library, DiagnosticEngine &diags)
      : run(run), library(library), diags(diags) {}

  Mesh build(const ParallelDecl &decl) {
    for (const AxisDecl &axis : decl.axes)
      declared.push_back(axis.name.text);
    for (const AxisDecl &axis : decl.axes)
      if (isTooLarge(decl, axis))
        return mesh;
    for (const AxisDecl &axis : decl.axes)
      if (!isProduct(axis))
        addAxis(axis);
    for (const AxisDecl &axis : decl.axes)
      if (isProduct(axis))
        addProduct(axis);
    for (const OverrideDecl &entry : decl.overrides)
      for (const OverrideDecl::Line &line : entry.lines)
        overridden.push_back(line.axis.text);
    for (const AxisDecl &axis : decl.axes)
      if (!isProduct(axis))
        setDegree(axis.degree.get(), *findAxis(axis.name));
    checkDegreeNames("`" + decl.name.text + "`", decl.name.loc);
    for (const NodesDecl &nodes : decl.nodes)
      addNodes(nodes);
    readOverrides(decl.overrides, mesh, diags);
    return std::move(mesh);
  }

  Mesh buildDefault() {
    Axis shard;
    shard.name = "shard";
    shard.splits = {run.dims.samples};
    shard.stores = storable;
    shard.splitLocs = {Location()};
    setDegree(nullptr, shard);
    mesh.axes.push_back(std::move(shard));
    checkDegreeNames("the map of a run without one", {});
    return std::move(mesh);
  }

private:
  std::vector<std::string> axisNames() const {
    std::vector<std::string> names;
    for (const Axis &axis : mesh.axes)
      names.push_back(axis.name);
    return names;
  }

  void checkDegreeNames(const std::string &map, Location at) {
    for (const auto &[name, option] : run.degrees)
      if (std::none_of(mesh.axes.begin(), mesh.axes.end(),
                       [&](const Axis &axis) { return axis.name == name; }))
        diags.report(Code::UnknownOption, option.loc, map + " has no axis `" + name + "`")
            .note(at, "it has " + listNames(axisNames()));
  }

  bool isTooLarge(const ParallelDecl &decl, const AxisDecl &axis) {
    constexpr size_t most = 64;
    size_t splits =
        (axis.use.splits ? axis.use.splits->size() : 0) + axis.use.fallbackSplits.size();
    if (static_cast<size_t>(&axis - decl.axes.data()) < most && splits <= most)
      return false;
    diags.report(Code::TooManyAxes, axis.loc,
                 "a mesh has at most " + std::to_string(most) +
                     " axes, and an axis splits at most as many dimensions");
    return true;
  }

  /// `(shard, tp)`, also `(shard)`, which is an axis in parentheses unless it names a constant.
  bool isProduct(const AxisDecl &decl) const {
    return decl.degree && (decl.degree->is<TupleExpr>() || isOtherAxis(decl));
  }

  /// Whether the degree of the axis is the name of another axis.
  bool isOtherAxis(const AxisDecl &decl) const {
    auto *name = decl.degree->as<NameExpr>();
    return name && name->path.text() != decl.name.text &&
           !library.lookup(*run.parallel.unit, name->path) &&
           std::any_of(declared.begin(), declared.end(),
                       [&](const std::string &axis) { return axis == name->path.text(); });
  }

  /// The components of a product: the elements in the parentheses.
  static std::vector<const Expr *> getComponents(const AxisDecl &decl) {
    std::vector<const Expr *> components;
    if (auto *tuple = decl.degree->as<TupleExpr>())
      for (const ExprPtr &element : tuple->elements)
        components.push_back(element.get());
    else
      components.push_back(decl.degree.get());
    return components;
  }

  /// The axis of this declaration, not another one of its name.
  Axis *findAxis(const Name &name) {
    for (Axis &axis : mesh.axes)
      if (axis.loc == name.loc)
        return &axis;
    return nullptr;
  }

  void addAxis(const AxisDecl &decl) {
    Axis axis;
    axis.name = decl.name.text;
    axis.loc = decl.name.loc;
    for (const Axis &other : mesh.axes)
      if (other.name == axis.name)
        diags.report(Code::AxisTwice, decl.name.loc, "axis `" + axis.name + "` exists already")
            .note(other.loc, "the first one is here");
    AxisLists lists = readUse(decl.use, diags);
    axis.splits = std::move(lists.splits);
    axis.fallback = std::move(lists.fallback);
    axis.stores = std::move(lists.stores);
    axis.splitLocs = std::move(lists.splitLocs);
    for (const Setting &option : decl.options)
      if (option.path.text() == "pad" && option.value)
        addPads(*option.value, axis);
      else if (option.path.text() == "stages" && option.value)
        setStages(*option.value, axis);
      else if (option.path.text() == "order" && option.value)
        setOrder(*option.value, axis);
      else if (option.path.text() == "attention" && option.value)
        setAttention(*option.value, axis);
      else
        reportUnknownOption(option, /*ofProduct=*/false);
    checkAttentionOrder(axis);
    axis.degree = 1; // until setDegree(); 0 would mean `auto`
    axis.degreeLoc = decl.degree ? decl.degree->loc : decl.loc;
    mesh.axes.push_back(std::move(axis));
  }

  /// The stages of each rank. Whether the axis has stages depends on the model.
  void setStages(const Expr &expr, Axis &axis) {
    constexpr int64_t maxStages = 1 << 16;
    Value stages = evalConstant(expr, library, *run.parallel.unit, diags);
    axis.stagesLoc = expr.loc;
    if (stages.isInt() && stages.integer >= 1 && stages.integer <= maxStages)
      axis.stages = stages.integer;
    else if (!stages.isError())
      diags.report(Code::PipelineStages, expr.loc,
                   "`stages` is a positive integer up to " + std::to_string(maxStages) + ", not " +
                       stages.print());
  }

  /// A dimension name or a list of names.
  void addPads(const Expr &expr, Axis &axis) {
    if (auto *list = expr.as<ListExpr>()) {
      for (const ExprPtr &element : list->elements)
        addPads(*element, axis);
      return;
    }
    std::vector<std::string> known = axis.splits;
    known.insert(known.end(), axis.fallback.begin(), axis.fallback.end());
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
    suggestName(diag, expr.loc, text, known, "it splits ");
  }

  /// The only value is `headtail`; an axis without the option has block order. (Padding is at the
  /// end of a dimension, and head-tail order would give all of it to the first rank: see
  /// setDegree().)
  void setOrder(const Expr &expr, Axis &axis) {
    auto *name = expr.as<NameExpr>();
    const std::string text = name ? name->path.text() : "";
    axis.orderLoc = expr.loc;
    axis.isHeadTail = text == "headtail";
    if (!axis.isHeadTail)
      suggestName(
          diags.report(Code::BadOrder, expr.loc, "the order of an axis can only be `headtail`"),
          expr.loc, text, {"headtail"});
    for (const Axis &other : mesh.axes)
      if (axis.isHeadTail && other.isHeadTail)
        diags.report(Code::BadOrder, expr.loc, "only one axis can have the order `headtail`")
            .note(other.orderLoc, "axis `" + other.name + "` has it")
            .help("remove one of the two `order = headtail`");
  }

  void setAttention(const Expr &expr, Axis &axis) {
    static const std::vector<std::string> methods{"gather", "ring", "all_to_all", "auto"};
    auto *name = expr.as<NameExpr>();
    const std::string text = name ? name->path.text() : "";
    axis.attentionLoc = expr.loc;
    auto method = std::find(methods.begin(), methods.end(), text);
    if (method != methods.end())
      axis.attention = static_cast<AttentionMethod>(method - methods.begin());
    else
      suggestName(diags.report(Code::BadAttention, expr.loc,
                               "attention over an axis is `gather`, `ring`, `all_to_all` or "
                               "`auto`"),
                  expr.loc, text, methods);
  }

  /// All-to-all attention needs block order, and causal attention is balanced without head-tail
  /// order: each rank has all positions of its heads.
  void checkAttentionOrder(const Axis &axis) {
    if (axis.attention == AttentionMethod::AllToAll && axis.isHeadTail)
      diags
          .report(Code::BadAttention, axis.attentionLoc,
                  "`attention = all_to_all` needs positions in block order")
          .note(axis.orderLoc, "axis `" + axis.name + "` has head-tail order")
          .help("remove the order: by all-to-all, all ranks have equal work");
  }

  void reportUnknownOption(const Setting &option, bool ofProduct) {
    Diagnostic &diag = diags.report(Code::UnknownAxisOption, option.path.loc,
                                    "an axis has no option `" + option.path.text() + "`");
    if (!ofProduct)
      diag.help("the options of an axis: `pad = NAME`, `pad = [NAME, NAME]`, `stages = NUMBER`, "
                "`order = headtail`, `attention = ring`");
    else
      diag.help("set the options of its component axes");
  }

  /// `ep = (shard, tp) splits experts` is not an axis: each component axis also splits `experts`,
  /// before its own dimensions, so that together they split every tensor with this dimension.
  void addProduct(const AxisDecl &decl) {
    AxisLists lists = readUse(decl.use, diags);
    for (const Setting &option : decl.options)
      reportUnknownOption(option, /*ofProduct=*/true);
    if (lists.splits.empty() && lists.fallback.empty() && lists.stores.empty())
      diags
          .report(Code::UselessAxis, decl.name.loc,
                  "axis `" + decl.name.text + "` splits and stores nothing")
          .help("add the dimensions that its component axes split together: `splits ...`");
    const std::vector<const Expr *> elements = getComponents(decl);
    if (elements.empty())
      diags
          .report(Code::UselessAxis, decl.degree->loc,
                  "axis `" + decl.name.text + "` has no component axes")
          .help("name other axes in the parentheses: `(shard, tp)`");
    std::vector<Axis *> components;
    for (const Expr *element : elements)
      if (Axis *component = findComponent(decl, *element, components))
        components.push_back(component);
    for (Axis *component : components) {
      addNames(*component, component->splits, 0, lists.splits, lists.splitLocs, 0);
      addNames(*component, component->fallback, component->splits.size(), lists.fallback,
               lists.splitLocs, lists.splits.size());
      for (const std::string &state : lists.stores)
        if (std::find(component->stores.begin(), component->stores.end(), state) ==
            component->stores.end())
          component->stores.push_back(state);
    }
  }

  Axis *findComponent(const AxisDecl &decl, const Expr &element,
                      const std::vector<Axis *> &others) {
    auto *name = element.as<NameExpr>();
    std::string text = name ? name->path.text() : "";
    auto component = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                                  [&](const Axis &axis) { return axis.name == text; });
    if (component != mesh.axes.end() &&
        std::find(others.begin(), others.end(), &*component) == others.end())
      return &*component;
    std::string what =
        !name ? "a component of axis `" + decl.name.text + "` is the name of another axis"
        : component == mesh.axes.end() ? "the map has no axis `" + text + "` of its own"
                                       : "axis `" + text + "` is already a component";
    Diagnostic &diag = diags.report(Code::UnknownAxis, element.loc, what);
    suggestName(diag, element.loc, text, axisNames(), "axes with a degree are ");
    return nullptr;
  }

  /// Puts the missing `names` in front of a list of `axis`, whose locations begin at `at`.
  static void addNames(Axis &axis, std::vector<std::string> &list, size_t at,
                       const std::vector<std::string> &names, const std::vector<Location> &locs,
                       size_t firstLoc) {
    for (size_t i = 0, added = 0; i < names.size(); ++i) {
      if (std::find(list.begin(), list.end(), names[i]) != list.end())
        continue;
      list.insert(list.begin() + static_cast<ptrdiff_t>(added), names[i]);
      axis.splitLocs.insert(axis.splitLocs.begin() + static_cast<ptrdiff_t>(at + added++),
                            locs[firstLoc + i]);
    }
  }

  /// A missing expression means `auto`.
  void setDegree(const Expr *written, Axis &axis) {
    Value degree = Value::ofWord("auto");
    if (auto given = run.degrees.find(axis.name); given != run.degrees.end()) {
      degree = given->second.value;
      axis.degreeLoc = given->second.loc;
    } else if (written) {
      auto *name = written->as<NameExpr>();
      bool isWord = name && !library.lookup(*run.parallel.unit, name->path);
      degree = isWord ? Value::ofWord(name->path.text())
                      : evalConstant(*written, library, *run.parallel.unit, diags);
    }
    if (degree.isWord("auto"))
      return checkAuto(axis);
    if (axis.isHeadTail && !axis.pads.empty())
      diags
          .report(Code::BadOrder, axis.orderLoc,
                  "axis `" + axis.name +
                      "` pads dimensions, which `order = headtail` does not support")
          .note(axis.padLocs.front(), "the padded dimension is here")
          .help("remove `pad` or `order`");
    if (degree.isInt() && degree.integer >= 1 && degree.integer <= maxRanks) {
      axis.degree = degree.integer;
      return checkUse(axis);
    }
    axis.degree = 1;
    const bool isBeyond = degree.isInt() && degree.integer > maxRanks;
    if (degree.isError())
      return;
    Diagnostic &diag =
        diags.report(Code::BadDegree, axis.degreeLoc,
                     (isBeyond ? "a degree is at most " + std::to_string(maxRanks)
                               : std::string("a degree is a positive integer or `auto`")) +
                         ", not " + degree.print());
    const bool isAxis = std::any_of(mesh.axes.begin(), mesh.axes.end(),
                                    [&](const Axis &other) { return degree.isWord(other.name); });
    if (isAxis)
      diag.help("a product names at least two axes, `(shard, tp)`; write what one axis splits at "
                "that axis");
  }

  void addNodes(const NodesDecl &decl) {
    if (decl.name.text != "nodes") {
      Diagnostic &diag = diags.report(Code::BadNodes, decl.loc,
                                      "`" + decl.name.text + "` is an axis, which has one degree");
      suggestName(diag, decl.name.loc, decl.name.text, {"nodes"});
      diag.help("the nodes of the machine are `nodes = COUNT of RANKS`");
      return;
    }
    if (mesh.nodes) {
      diags.report(Code::BadNodes, decl.loc, "`nodes` is set twice")
          .note(mesh.nodes->loc, "the first one is here");
      return;
    }
    Value count = evalConstant(*decl.count, library, *run.parallel.unit, diags);
    Value ranks = evalConstant(*decl.ranksPerNode, library, *run.parallel.unit, diags);
    if (count.isError() || ranks.isError())
      return;
    auto isNumber = [](const Value &value) {
      return value.isInt() && value.integer >= 1 && value.integer <= maxRanks;
    };
    if (!isNumber(count) || !isNumber(ranks)) {
      diags.report(Code::BadNodes, decl.loc,
                   "nodes and their ranks are positive integers up to " + std::to_string(maxRanks) +
                       ", not " + count.print() + " and " + ranks.print());
      return;
    }
    mesh.nodes = Nodes{count.integer, ranks.integer, 0, decl.loc, {}};
    for (const Setting &option : decl.options)
      if (option.path.text() == "memory" && option.value)
        setMemory(*option.value);
      else
        diags
            .report(Code::UnknownAxisOption, option.path.loc,
                    "nodes have no option `" + option.path.text() + "`")
            .help("the option of nodes: `memory = GIB`, of the device of a rank");
    checkNodes();
  }

  void setMemory(const Expr &expr) {
    Value size = evalConstant(expr, library, *run.parallel.unit, diags);
    mesh.nodes->memoryLoc = expr.loc;
    mesh.nodes->memory = size.isNumber() ? size.number() : 0;
    if (!size.isError() && !(mesh.nodes->memory > 0))
      diags.report(Code::BadNodes, expr.loc,
                   "`memory` is a positive number of GiB, not " + size.print());
  }

  /// Checks that nodes and mesh have the same number of ranks. An `auto` degree is checked at
  /// launch.
  void checkNodes() {
    const int64_t all = mesh.nodes->count * mesh.nodes->ranksPerNode;
    int64_t least = 1;
    bool hasAuto = false;
    for (const Axis &axis : mesh.axes) {
      hasAuto |= axis.degree == 0;
      if (__builtin_mul_overflow(least, std::max<int64_t>(axis.degree, 1), &least))
        return; // the degrees have their own limit
    }
    if (hasAuto ? all % least == 0 : all == least)
      return;
    Diagnostic &diag = diags.report(Code::BadNodes, mesh.nodes->loc,
                                    std::to_string(mesh.nodes->count) + " nodes of " +
                                        std::to_string(mesh.nodes->ranksPerNode) + " have " +
                                        std::to_string(all) + " ranks, but the mesh has " +
                                        (hasAuto ? "a multiple of " : "") + std::to_string(least));
    if (!hasAuto && least % mesh.nodes->ranksPerNode == 0)
      diag.help("write `nodes = " + std::to_string(least / mesh.nodes->ranksPerNode) + " of " +
                std::to_string(mesh.nodes->ranksPerNode) + "`, or change a degree");
    else
      diag.help(
          "change a degree, or the nodes: the product of their numbers is the number of ranks");
  }

  void checkAuto(Axis &axis) {
    for (const auto *names : {&axis.splits, &axis.fallback})
      for (const std::string &name : *names)
        if (isPadded(mesh.axes, name))
          diags.report(Code::AutoDegree, axis.degreeLoc,
                       "the degree of `" + axis.name + "` must be known: it splits `" + name +
                           "`, which is padded");
    if (axis.isHeadTail)
      diags
          .report(Code::BadOrder, axis.orderLoc,
                  "`order = headtail` needs a known degree of axis `" + axis.name + "`")
          .note(axis.degreeLoc, "it is `auto`")
          .help("write a number for `auto`, or remove the order");
    if (axis.attention != AttentionMethod::Gather)
      diags
          .report(Code::BadAttention, axis.attentionLoc,
                  "attention other than `gather` needs a known degree of axis `" + axis.name + "`")
          .note(axis.degreeLoc, "it is `auto`")
          .help("write a number for `auto`, or `attention = gather`");
    for (const Axis &other : mesh.axes)
      if (&other != &axis && other.degree == 0)
        diags.report(Code::AutoDegree, axis.degreeLoc, "only one axis can be `auto`")
            .note(other.degreeLoc, "this one is");
    axis.degree = 0;
    checkUse(axis);
  }

  void checkUse(const Axis &axis) {
    bool isOverridden =
        std::find(overridden.begin(), overridden.end(), axis.name) != overridden.end();
    if (axis.degree == 1 || isOverridden || !axis.splits.empty() || !axis.fallback.empty() ||
        !axis.stores.empty())
      return;
    diags.report(Code::UselessAxis, axis.loc, "axis `" + axis.name + "` splits and stores nothing")
        .help("add `splits " + run.dims.samples + "`, or remove it");
  }

  const Run &run;
  const Library &library;
  DiagnosticEngine &diags;
  Mesh mesh;
  std::vector<std::string> declared;   ///< the names of all axes of the map
  std::vector<std::string> overridden; ///< axes that the map's overrides name
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
  int64_t shards = 1;
  for (const Axis &axis : axes)
    for (const auto *names : {&axis.splits, &axis.fallback})
      if (axis.degree > 1 && std::find(names->begin(), names->end(), dim) != names->end())
        shards *= axis.degree;
  return (size + shards - 1) / shards * shards;
}

AxisLists readUse(const AxisUse &use, DiagnosticEngine &diags) {
  AxisLists lists;
  auto add = [&](const Path &path, std::vector<std::string> &to) {
    auto isListed = [&](const std::vector<std::string> &names) {
      return std::find(names.begin(), names.end(), path.text()) != names.end();
    };
    if (isListed(lists.splits) || isListed(lists.fallback)) {
      diags
          .report(Code::OptionWithoutEffect, path.loc,
                  "`" + path.text() + "` has no effect here: the list already has it")
          .help("an axis splits the first dimension of its list that a tensor has; remove the "
                "second mention");
      return;
    }
    to.push_back(path.text());
    lists.splitLocs.push_back(path.loc);
  };
  if (use.splits)
    for (const Path &path : *use.splits)
      add(path, lists.splits);
  for (const Path &path : use.fallbackSplits)
    add(path, lists.fallback);
  if (!use.stores)
    return lists;
  for (const Name &name : *use.stores) {
    if (std::find(storable.begin(), storable.end(), name.text) != storable.end()) {
      lists.stores.push_back(name.text);
      continue;
    }
    Diagnostic &diag = diags.report(Code::UnknownStore, name.loc,
                                    "`" + name.text + "` is not a state that an axis can store");
    suggestName(diag, name.loc, name.text, storable, "an axis can store ");
  }
  return lists;
}

std::optional<Mesh> resolveMesh(const Run &run, const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  MeshBuilder builder(run, library, diags);
  Mesh mesh =
      run.parallel ? builder.build(*run.parallel.decl->as<ParallelDecl>()) : builder.buildDefault();
  return diags.errorReports() == errorsBefore ? std::optional(std::move(mesh)) : std::nullopt;
}

} // namespace titan::sema
