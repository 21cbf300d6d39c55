// RUN: titan-opt --dist-assign-shardings -verify-diagnostics -split-input-file %s

// One axis has one set of rules.
dist.mesh @mesh [#dist.axis<t = 2>]
// expected-note @+1 {{the other rules are here}}
dist.axis_rules "t" shards ["ffn"] fallback [] stores []
// expected-error @+1 {{axis "t" has axis rules already}}
dist.axis_rules "t" shards ["heads"] fallback [] stores []

// -----

// A result can only update an argument.
dist.mesh @mesh [#dist.axis<t = 2>]
!w = !titan.tensor<f32[ffn = 8]>
// expected-error @+1 {{(`titan.updates`), which does not exist}}
func.func @beyond(%w: !w {titan.param = "w"}) -> (!w {titan.updates = 1}) {
  return %w : !w
}

// -----

dist.mesh @mesh [#dist.axis<t = 2>]
!w = !titan.tensor<f32[ffn = 8]>
// expected-error @+1 {{(`titan.updates`), which does not exist}}
func.func @negative(%w: !w {titan.param = "w"}) -> (!w {titan.updates = -1}) {
  return %w : !w
}
