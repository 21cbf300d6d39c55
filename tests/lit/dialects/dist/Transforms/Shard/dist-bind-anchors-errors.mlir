// RUN: titan-opt --dist-bind-anchors -verify-diagnostics -split-input-file %s

// One axis has one map.
dist.mesh @mesh [#dist.axis<t = 2>]
// expected-note @+1 {{the other map is here}}
dist.map "t" splits ["ffn"] otherwise [] stores []
// expected-error @+1 {{axis "t" has a map already}}
dist.map "t" splits ["heads"] otherwise [] stores []

// -----

// What a result updates is an argument.
dist.mesh @mesh [#dist.axis<t = 2>]
!w = !titan.tensor<f32[ffn = 8]>
// expected-error @+1 {{result 0 updates no argument}}
func.func @beyond(%w: !w {titan.param = "w"}) -> (!w {titan.updates = 1}) {
  return %w : !w
}

// -----

dist.mesh @mesh [#dist.axis<t = 2>]
!w = !titan.tensor<f32[ffn = 8]>
// expected-error @+1 {{result 0 updates no argument}}
func.func @negative(%w: !w {titan.param = "w"}) -> (!w {titan.updates = -1}) {
  return %w : !w
}
