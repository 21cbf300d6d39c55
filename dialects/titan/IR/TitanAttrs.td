// Attributes: dimensions, initial values, settings, weight maps, precision, allocations, periods and turns, and the
// dimensions of a run's data.

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
    `#titan.dim<seq = 256>`. A renamed dimension has an origin, whose axis rules apply to it too:
    `#titan.dim<keys = 256 of seq>`. Names are unique in a program (`Moe.ffn` and `Dense.ffn` differ).
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size, "::mlir::StringAttr":$origin);
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name, "int64_t":$size), [{
    return $_get($_ctxt, name, size, ::mlir::StringAttr());
  }]>];
  let hasCustomAssemblyFormat = 1;
}

def Titan_InitAttr : Titan_Attr<"Init", "init"> {
  let summary = "the initial value of a parameter";
  let description = [{
    `#titan.init<normal, [0.02]>`. The list contains the scale: the value of `constant`, the standard
    deviation of `normal` and `truncated_normal`, the bound a of `uniform` on [-a, a). A stacked
    parameter may have one scale per layer. `cut` is the number of standard deviations at which the distribution is truncated (0: never).
    The random numbers are those of Philox (base/random/Philox.h). The key is the seed and the name (per
    layer), the counter is the global element index.
  }];
  let parameters = (ins "::titan::ir::InitKind":$kind, "::mlir::DenseF64ArrayAttr":$scale, "::mlir::FloatAttr":$cut);
  let hasCustomAssemblyFormat = 1;
}

def Titan_SettingAttr : Titan_Attr<"Setting", "setting"> {
  let summary = "a setting of the run";
  let description = [{
    `#titan.setting<"never">` is compiled in. A setting that the program accepts at launch also has a rule, by
    which the program checks a new value: `#titan.setting<200, takes = "integer", least = 1.0>`. `takes` is "integer" or
    "number" (of at least `least`, at most `most`), "word" (one of `choices`) or "text". `idle = [path, value]`:
    the setting has no effect while the setting `path` has this value.

    Constraints:
    - (C1) `takes` is one of these words; without `takes`, there are no other parameters of a rule.
    - (C2) "integer" and "number" have `least`, "word" has `choices`.
    - (C3) `choices` contains strings, `idle` contains two strings.
  }];
  let parameters = (ins "::mlir::Attribute":$value, OptionalParameter<"::mlir::StringAttr">:$takes,
                        OptionalParameter<"::mlir::FloatAttr">:$least, OptionalParameter<"::mlir::FloatAttr">:$most,
                        OptionalParameter<"::mlir::ArrayAttr">:$choices,
                        OptionalParameter<"::mlir::ArrayAttr">:$idle);
  let builders = [AttrBuilderWithInferredContext<(ins "::mlir::Attribute":$value), [{
    return $_get(value.getContext(), value, ::mlir::StringAttr(), ::mlir::FloatAttr(), ::mlir::FloatAttr(),
                 ::mlir::ArrayAttr(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "`<` $value (`,` struct($takes, $least, $most, $choices, $idle)^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the value is compiled into the program.
    bool isCompiledIn() const { return !getTakes(); }
  }];
}

def Titan_StoredParameterAttr : Titan_Attr<"StoredParameter", "stored_parameter"> {
  let summary = "a parameter in files of other software";
  let description = [{
    `#titan.stored_parameter<"layers.wq", "model.layers.{0}.q.weight", shape = [64, 32], start = 0,
    sizes = [32, 64], strides = [1, 32]>`: the row-major elements of one iteration of the parameter have factors
    with these sizes. Factor i advances `strides[i]` elements in a stored tensor of this shape; a factor with
    stride 0 selects the stored tensor. In the name, `{i}` is the i-th index and `{i+3}` that index plus 3:
    first the iterations of the repeats, then the indices of the factors with stride 0.

    Constraints:
    - (C1) there are as many sizes as strides.
    - (C2) the elements of the parameter are elements of the stored tensor.
  }];
  let parameters = (ins "::mlir::StringAttr":$parameter, "::mlir::StringAttr":$tensor,
                        "::mlir::DenseI64ArrayAttr":$shape, "int64_t":$start,
                        "::mlir::DenseI64ArrayAttr":$sizes, "::mlir::DenseI64ArrayAttr":$strides);
  let assemblyFormat = "`<` $parameter `,` $tensor `,` struct($shape, $start, $sizes, $strides) `>`";
  let genVerifyDecl = 1;
}

def Titan_WeightMapAttr : Titan_Attr<"WeightMap", "weight_map"> {
  let summary = "the parameters of a model in files of other software";
  let description = [{
    `#titan.weight_map<"hf", [#titan.stored_parameter<...>, ...], copies = {"b" = "a"}, unused = ["*.inv_freq"]>`.
    A tensor of `copies` may exist; if it does, it equals the tensor that `copies` maps it to. `unused` lists glob patterns of tensors
    that the model does not need. `merged = ["layers.a"]`, if present, lists parameters without a tensor,
    which the program `merge` merges into others.

    Constraints:
    - (C1) `parameters` contains stored parameters, `copies`, `unused` and `merged` contain strings.
  }];
  let parameters = (ins "::mlir::StringAttr":$format, "::mlir::ArrayAttr":$parameters,
                        "::mlir::DictionaryAttr":$copies, "::mlir::ArrayAttr":$unused,
                        OptionalParameter<"::mlir::ArrayAttr">:$merged);
  let assemblyFormat = [{
    `<` $format `,` $parameters `,` `copies` `=` $copies `,` `unused` `=` $unused (`,` `merged` `=` $merged^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Titan_PrecisionAttr : Titan_Attr<"Precision", "precision"> {
  let summary = "the declared element types of a program function";
  let description = [{
    `#titan.precision<compute = bf16, reduce = f32, activations_reduce = f32, optimizer = f32>`: the types of
    values outside `in TYPE` regions, of parameters' gradients, of sums over ranks of values of type `compute`,
    and of optimizer state. If a type is absent, the values keep their types.

    Constraints:
    - (C1) the types are floating-point types.
  }];
  let parameters = (ins OptionalParameter<"::mlir::Type">:$compute, OptionalParameter<"::mlir::Type">:$reduce,
                        OptionalParameter<"::mlir::Type">:$activations_reduce,
                        OptionalParameter<"::mlir::Type">:$optimizer);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The precision of the function `op`, or of the function that contains `op`. Without types if the
    /// function declares none.
    static PrecisionAttr lookup(::mlir::Operation *op);
  }];
}

def Titan_AllocRefAttr : Titan_Attr<"AllocRef", "alloc_ref"> {
  let summary = "a reference to the allocation of a value";
  let description = [{
    Set by the memory phase. `#titan.alloc_ref<transient 3>` is allocation 3 of the function's
    `titan.transient`, `persistent 3` is allocation 3 of the module's `titan.persistent`. An `inline` value
    has no memory; its users evaluate it. `at [0, 1]`: the allocation is a stack, and the value is its slot at the indices
    of the enclosing repeats 0 and 1 (0 is the outermost), row-major. `for` lists, for each of these
    repeats, the variants that have slots; an empty or missing list means all variants.
  }];
  let parameters = (ins EnumParameter<Titan_MemorySpace>:$space, "int64_t":$index,
                        OptionalArrayRefParameter<"int64_t">:$levels,
                        OptionalParameter<"::mlir::ArrayAttr">:$users);
  let builders = [AttrBuilder<(ins "::titan::ir::MemorySpace":$space, "int64_t":$index), [{
    return $_get($_ctxt, space, index, ::llvm::ArrayRef<int64_t>(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "`<` $space $index (`at` `[` $levels^ `]`)? (`for` $users^)? `>`";
  let extraClassDeclaration = [{
    /// The variants that have slots at level `i`; empty: all.
    ::llvm::ArrayRef<int64_t> getLevelUsers(size_t i) const;
    /// The slot of this stack in `repeat` at depth `level`; only the variants `users` have slots.
    AllocRefAttr getSlot(int64_t level, RepeatOp repeat, ::llvm::ArrayRef<int64_t> users) const;
  }];
}

def Titan_AllocationAttr : Titan_Attr<"Allocation", "allocation"> {
  let summary = "a range of memory with a live range";
  let description = [{
    `#titan.allocation<"q", !titan.tensor<f32[seq = 8]>, 3 to 17>` has the size of the local tensor and is
    live from event 3 to event 17 of the function's linear order, inclusive. Several values may share the
    allocation.
    `pad ["shard"]`: the allocation is larger by one element per rank of these axes. `per "thread"`: the
    allocation is the scratch of a kernel, once per thread; it is empty on devices. `in "layers"`: the tensor is
    a flat stack whose slots are in the bucket of this name. For every iteration, a bucket contains the
    slots of all its allocations consecutively. `on "host"`: the allocation is in memory of the host, which
    the device accesses directly.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type, "int64_t":$first,
                        "int64_t":$last, OptionalParameter<"::mlir::ArrayAttr">:$pad,
                        OptionalParameter<"::mlir::StringAttr">:$per,
                        OptionalParameter<"::mlir::StringAttr">:$bucket,
                        OptionalParameter<"::mlir::StringAttr">:$memory);
  let assemblyFormat = [{
    `<` $name `,` $type `,` $first `to` $last (`pad` $pad^)? (`per` $per^)? (`in` $bucket^)? (`on` $memory^)? `>`
  }];
}

def Titan_PeriodAttr : Titan_Attr<"Period", "period"> {
  let summary = "the steps in which a parameter is updated";
  let description = [{
    `#titan.period<every = 2, offset = 1>`: step `offset` + 1, and every `every`-th step from there on.

    Constraints:
    - (C1) `every` is at least 1, `offset` at least 0.
  }];
  let parameters = (ins "int64_t":$every, "int64_t":$offset);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Titan_TurnAttr : Titan_Attr<"Turn", "turn"> {
  let summary = "the steps in which a train program runs";
  let description = [{
    `#titan.turn<due = [#titan.period<every = 2, offset = 1>], idle = []>`: the steps that belong to all
    periods of `due` and to no period of `idle`.

    Constraints:
    - (C1) `due` and `idle` contain periods, `due` at least one.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$due, "::mlir::ArrayAttr":$idle);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Titan_DataDimsAttr : Titan_Attr<"DataDims", "data_dims"> {
  let summary = "the dimensions of a run's data: samples and positions";
  let description = [{
    `#titan.data_dims<samples = "batch", positions = "seq">`: the names of two dimensions of inputs. A batch has
    one element per sample along `samples`; a sample has one element per position along `positions`. Microbatches are
    slices along `samples`; programs of generation compute chunks along `positions`. Without
    `positions`, samples such as images have no positions.

    Constraints:
    - (C1) the names are not empty, and differ.
  }];
  let parameters = (ins "::mlir::StringAttr":$samples, OptionalParameter<"::mlir::StringAttr">:$positions);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute `titan.data_dims` of the module that contains `op`; null if the module has none.
    static DataDimsAttr lookup(::mlir::Operation *op);
  }];
}

#endif // TITAN_TITAN_ATTRS_TD
