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

def Titan_AllocRefAttr : Titan_Attr<"AllocRef", "alloc_ref"> {
  let summary = "the buffer in which a value lies";
  let description = [{
    Set by the memory phase. `#titan.alloc_ref<transient 3>` is buffer 3 of the function's `titan.transient`,
    `persistent 3` of the module's `titan.persistent`; `inline` values have no memory and are written
    into the expressions that use them. `at [0, 1]`: the buffer is a stack, and the value is its slot at
    the indices of the enclosing repeats 0 and 1 (0 is the outermost), row-major. `for` lists for each of
    these repeats the variants that have slots; an empty list, or none at all, stands for all of them.
  }];
  let parameters = (ins EnumParameter<Titan_MemorySpace>:$space, "int64_t":$index,
                        OptionalArrayRefParameter<"int64_t">:$levels,
                        OptionalParameter<"::mlir::ArrayAttr">:$users);
  let builders = [AttrBuilder<(ins "::titan::ir::MemorySpace":$space, "int64_t":$index), [{
    return $_get($_ctxt, space, index, ::llvm::ArrayRef<int64_t>(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "`<` $space $index (`at` `[` $levels^ `]`)? (`for` $users^)? `>`";
  let extraClassDeclaration = [{
    /// The variants that have slots in the `i`-th of the levels; empty: all.
    ::llvm::ArrayRef<int64_t> getLevelUsers(size_t i) const;
    /// The slot of this stack in the repeat at depth `level`, of which `users` have slots.
    AllocRefAttr getSlot(int64_t level, RepeatOp repeat, ::llvm::ArrayRef<int64_t> users) const;
  }];
}

def Titan_AllocationAttr : Titan_Attr<"Allocation", "allocation"> {
  let summary = "memory for values that lie in one another's place";
  let description = [{
    `#titan.allocation<"q", !titan.tensor<f32[seq = 8]>, 3 to 17>` holds a tensor of this type on every rank
    and is used from event 3 to event 17 of the function's linear order, both included. `pad ["shard"]`:
    there is room for one more element per rank of these axes. `per "thread"`: the working memory of a
    kernel, of which each thread has one; on devices, whose kernels need none, it is empty. `in "layers"`:
    the tensor is stacked by repeats and stored flat, and its slots lie in the bucket of this name, which
    holds for every iteration, one behind the other, the slots of all buffers that are in it.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type, "int64_t":$first,
                        "int64_t":$last, OptionalParameter<"::mlir::ArrayAttr">:$pad,
                        OptionalParameter<"::mlir::StringAttr">:$per,
                        OptionalParameter<"::mlir::StringAttr">:$bucket);
  let assemblyFormat = [{
    `<` $name `,` $type `,` $first `to` $last (`pad` $pad^)? (`per` $per^)? (`in` $bucket^)? `>`
  }];
}

#endif // TITAN_TITAN_ATTRS_TD
