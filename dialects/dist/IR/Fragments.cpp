//===- Fragments.cpp - The fragments of a program -------------------------===//

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;

SmallVector<func::FuncOp> dist::getFragments(func::FuncOp declaration) {
  SmallVector<func::FuncOp> fragments;
  auto module = declaration->getParentOfType<ModuleOp>();
  auto symbols = declaration->getAttrOfType<ArrayAttr>(kFragmentsAttr);
  for (auto symbol : symbols.getAsRange<FlatSymbolRefAttr>())
    if (auto fragment = module.lookupSymbol<func::FuncOp>(symbol.getAttr()))
      fragments.push_back(fragment);
  return fragments;
}
