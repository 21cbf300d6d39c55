// RUN: titan-opt --split-input-file --verify-diagnostics --dist-pad-dimensions %s

// Inputs cannot be padded, because the runtime does not fill their padding.
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["seq"] fallback [] stores [] pads ["seq"]
// expected-error @+1 {{cannot be padded: argument 0 is an input of type '!titan.tensor<i64[seq = 3]>'}}
func.func @input(%x: !titan.tensor<i64[seq = 3]> {titan.input = "tokens"}) {
  return
}

// -----
// An axis pads only dimensions that it may shard.
dist.mesh @mesh [#dist.axis<tp = 2>]
// expected-error @+1 {{(C3) the axis does not split "seq"}}
dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["seq"]
