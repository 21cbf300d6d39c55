//===- TitanAttrs.td - Dimensions and initialisers ------------------------===//

#ifndef TITAN_TITAN_ATTRS_TD
#define TITAN_TITAN_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "dialects/titan/IR/TitanDialect.td"
include "dialects/titan/IR/TitanEnums.td"

class Titan_Attr<string name, string attrMnemonic> : AttrDef<Titan_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Titan_DimAttr : Titan_Attr<"Dim", "dim"> {
  let summary = "a named dimension with its global size";
  let description = [{
    `#titan.dim<seq = 256>`; a renamed dimension remembers its origin, whose mesh axes it inherits:
    `#titan.dim<keys = 256 of seq>`. Names are unique in a program (`Moe.ffn` and `Dense.ffn` are two).
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size, "::mlir::StringAttr":$origin);
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name, "int64_t":$size), [{
    return $_get($_ctxt, name, size, ::mlir::StringAttr());
  }]>];
  let hasCustomAssemblyFormat = 1;
}

def Titan_InitAttr : Titan_Attr<"Init", "init"> {
  let summary = "how a parameter starts";
  let description = [{
    `#titan.init<normal, [0.02]>`. The list holds the scale: the value of `constant`, the standard
    deviation of `normal` and `truncated_normal`, the bound a of `uniform` on [-a, a). A stacked
    parameter may give one scale per layer. `cut` (0: none) truncates at that many standard deviations.
    Values are drawn by Philox keyed by seed and (per layer) name, counted by global element index.
  }];
  let parameters = (ins "::titan::ir::InitKind":$kind, "::mlir::DenseF64ArrayAttr":$scale, "::mlir::FloatAttr":$cut);
  let hasCustomAssemblyFormat = 1;
}

#endif // TITAN_TITAN_ATTRS_TD
