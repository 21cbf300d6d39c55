// RUN: titan-opt --dist-propagate -verify-diagnostics -split-input-file %s

// An operation without sharding rule is an error.
func.func @callee(%x: !titan.tensor<f32[seq = 8], <[{}]>>) {
  return
}

func.func @caller(%x: !titan.tensor<f32[seq = 8], <[{}]>>) {
  // expected-error @+1 {{cannot be partitioned: it has no sharding rule}}
  func.call @callee(%x) : (!titan.tensor<f32[seq = 8], <[{}]>>) -> ()
  return
}

// -----

// Only tensors can have a sharding.
// expected-error @+1 {{cannot be partitioned: argument 0 is not a tensor but 'i64'}}
func.func @number(%n: i64) {
  return
}

// -----

// Two shardings of one product by an axis whose rules list neither dimension: a warning that names both declared values.
dist.mesh @mesh [#dist.axis<t = 2>]
dist.axis_rules "t" shards [] fallback [] stores []
func.func @silent(
    // expected-note @+1 {{`seq` is split here}}
    %x: !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>,
    // expected-note @+1 {{`ffn` is split here}}
    %w: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) {
  %0 = titan.tanh %x : !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4]>
  // expected-warning @+1 {{`t` splits `seq` here, not `ffn`: its map lists none of them, so their priority is unknown}}
  %1 = titan.contract %0, %w : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) -> !titan.tensor<f32[seq = 8, ffn = 6]>
  return
}
