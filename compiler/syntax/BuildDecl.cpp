// Builds declarations from the parse tree.
#include "compiler/syntax/Builder.h"

namespace titan::syntax {

void Builder::build(P::FileContext &context, Module &module) {
  for (P::DeclarationContext *declaration : context.declaration())
    if (!declaration->exception)
      if (DeclPtr made = buildDecl(*declaration))
        module.decls.push_back(std::move(made));
  module.passingCalls = std::move(passingCalls);
}

DeclPtr Builder::buildDecl(P::DeclarationContext &context) {
  if (P::ImportDeclContext *decl = context.importDecl())
    return buildImport(*decl);
  if (P::ModelDeclContext *decl = context.modelDecl())
    return buildModel(*decl);
  if (P::BlockDeclContext *decl = context.blockDecl())
    return buildBlock(*decl);
  if (P::FnDeclContext *decl = context.fnDecl())
    return buildFn(*decl);
  if (P::OptimizerDeclContext *decl = context.optimizerDecl())
    return buildOptimizerOrSchedule<OptimizerDecl>(*decl);
  if (P::ScheduleDeclContext *decl = context.scheduleDecl())
    return buildOptimizerOrSchedule<ScheduleDecl>(*decl);
  if (P::DataDeclContext *decl = context.dataDecl())
    return buildData(*decl);
  if (P::ParallelDeclContext *decl = context.parallelDecl())
    return buildParallel(*decl);
  if (P::WeightsDeclContext *decl = context.weightsDecl())
    return buildWeights(*decl);
  if (P::ConfigDeclContext *decl = context.configDecl())
    return buildConfig(*decl);
  return buildTrain(*context.trainDecl());
}

DeclPtr Builder::buildImport(P::ImportDeclContext &context) {
  auto made = std::make_unique<ImportDecl>(at(context));
  for (P::ImportItemContext *item : context.importItem()) {
    ImportDecl::Item import;
    import.loc = at(*item);
    if (item->moduleName())
      import.path = path(*item->moduleName()->path());
    else
      import.file = unquote(*item->STRING());
    if (item->newName())
      import.alias = name(*item->newName());
    made->items.push_back(std::move(import));
  }
  return made;
}

DeclPtr Builder::buildModel(P::ModelDeclContext &context) {
  if (context.modelName()) {
    auto made = std::make_unique<ModelAliasDecl>(at(context));
    made->name = name(*context.newName());
    made->base = path(*context.modelName()->path());
    if (context.settings())
      made->settings = buildSettings(*context.settings());
    return made;
  }
  if (context.formals() && context.formals()->exception)
    return nullptr;
  auto made = std::make_unique<ModelDecl>(at(context));
  made->name = name(*context.newName());
  if (context.formals())
    made->formals = buildFormals(*context.formals());
  made->body = buildBody(*context.body());
  return made;
}

DeclPtr Builder::buildBlock(P::BlockDeclContext &context) {
  P::SignatureContext &signature = *context.signature();
  if (signature.formals()->exception)
    return nullptr;
  auto made = std::make_unique<BlockDecl>(at(context));
  made->name = name(*signature.newName());
  made->formals = buildFormals(*signature.formals());
  if (signature.results())
    made->results = names(signature.results()->newName());
  made->body = buildBody(*context.body());
  return made;
}

DeclPtr Builder::buildFn(P::FnDeclContext &context) {
  P::SignatureContext &signature = *context.signature();
  if (signature.formals()->exception)
    return nullptr;
  auto made = std::make_unique<FnDecl>(at(context));
  made->name = name(*signature.newName());
  made->formals = buildFormals(*signature.formals());
  if (signature.results())
    made->results = names(signature.results()->newName());
  if (context.expr())
    made->value = build(*context.expr());
  else
    made->body = buildBody(*context.body());
  if (context.expr() && signature.results())
    diags
        .report(Code::ResultsOfExpression, at(*signature.results()),
                "a function with a body `= ...` does not name its results")
        .note(at(*context.expr()), "its result is here");
  return made;
}

template <typename Made, typename Context>
DeclPtr Builder::buildOptimizerOrSchedule(Context &context) {
  if (context.formals()->exception)
    return nullptr;
  auto made = std::make_unique<Made>(at(context));
  made->name = name(*context.newName());
  made->formals = buildFormals(*context.formals());
  made->body = buildBody(*context.body());
  made->isDefault = context.DEFAULT() != nullptr;
  return made;
}

DeclPtr Builder::buildData(P::DataDeclContext &context) {
  auto made = std::make_unique<DataDecl>(at(context));
  made->name = {context.DATA()->getText(), at(*context.DATA())};
  made->settings = buildSettings(*context.settings());
  return made;
}

std::vector<Formal> Builder::buildFormals(P::FormalsContext &context) {
  std::vector<Formal> formals;
  for (P::FormalContext *item : context.formal()) {
    Formal formal;
    formal.loc = at(*item);
    if (item->newDim()) {
      formal.kind = item->OVER() ? FormalKind::Over : FormalKind::Along;
      formal.name = name(*item->newDim());
    } else if (item->functionName()) {
      formal.kind = FormalKind::With;
      formal.function = path(*item->functionName()->path());
      formal.name = formal.function.last();
    } else {
      formal.name = name(*item->typedName()->newName());
      formal.type = buildType(*item->typedName());
      if (item->expr())
        formal.defaultValue = build(*item->expr());
    }
    formals.push_back(std::move(formal));
  }
  return formals;
}

DeclPtr Builder::buildParallel(P::ParallelDeclContext &context) {
  auto made = std::make_unique<ParallelDecl>(at(context));
  made->name = name(*context.newName());
  for (P::AxisContext *axis : context.axes()->axis()) {
    if (axis->exception)
      continue;
    if (axis->overrides())
      made->overrides.push_back(buildOverrides(*axis));
    else if (axis->OF())
      made->nodes.push_back(buildNodes(*axis));
    else
      made->axes.push_back(buildAxis(*axis));
  }
  return made;
}

AxisUse Builder::buildUse(P::SplitsContext *splits, P::StoresContext *stores, Location &location) {
  AxisUse use;
  if (splits) {
    location = sources.cover(location, at(*splits));
    use.splits.emplace();
    if (splits->dimNames())
      use.splits = paths(*splits->dimNames());
    if (splits->elseDims())
      use.fallbackSplits = paths(*splits->elseDims()->dimNames());
  }
  if (stores) {
    location = sources.cover(location, at(*stores));
    use.stores = names(stores->storedKind());
  }
  return use;
}

AxisDecl Builder::buildAxis(P::AxisContext &context) {
  AxisDecl axis;
  axis.name = name(*context.newAxis());
  axis.degree = build(*context.expr(0));
  axis.loc = sources.cover(axis.name.loc, at(*context.expr(0)));
  axis.use = buildUse(context.splits(), context.stores(), axis.loc);
  if (context.settings()) {
    axis.loc = sources.cover(axis.loc, at(*context.settings()));
    axis.options = buildSettings(*context.settings());
  }
  return axis;
}

NodesDecl Builder::buildNodes(P::AxisContext &context) {
  Name written = name(*context.newAxis());
  Location loc = sources.cover(written.loc, at(*context.expr(1)));
  NodesDecl nodes{std::move(written), build(*context.expr(0)), build(*context.expr(1)), {}, loc};
  if (context.settings())
    nodes.options = buildSettings(*context.settings());
  return nodes;
}

OverrideDecl Builder::buildOverrides(P::AxisContext &context) {
  OverrideDecl made;
  made.kind = name(*context.newAxis());
  made.pattern = unquote(*context.STRING());
  for (P::OverrideLineContext *line : context.overrides()->overrideLine()) {
    if (line->exception)
      continue;
    OverrideDecl::Line one{name(*line->axisName()), {}, at(*line->axisName())};
    one.use = buildUse(line->splits(), line->stores(), one.loc);
    made.lines.push_back(std::move(one));
  }
  return made;
}

DeclPtr Builder::buildTrain(P::TrainDeclContext &context) {
  auto made = std::make_unique<TrainDecl>(at(context));
  made->name = name(*context.newName());
  made->base = path(*context.trainBase()->path());
  made->derived = context.WITH() != nullptr;
  if (context.parallelName())
    made->parallel = path(*context.parallelName()->path());
  if (context.settings())
    made->settings = buildSettings(*context.settings());
  return made;
}

} // namespace titan::syntax
