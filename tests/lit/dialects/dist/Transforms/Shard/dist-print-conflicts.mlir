// RUN: split-file %s %t
// RUN: titan-opt --dist-print-conflicts %t/conflict.mlir -o /dev/null | FileCheck %s
// RUN: not titan-opt --dist-print-conflicts %t/rule.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=RULE

// Each conflict is listed once, also if the backward repeats it: the chosen and rejected dimensions, and
// the origins from which they were propagated.
// CHECK: @train
// CHECK-NEXT: {{^}}t  ffn of w net.titan:3, not seq of x net.titan:2; h net.titan:5{{$}}
// CHECK-NEXT: {{^}}t  neither embed of a net.titan:6 nor keys of b net.titan:7; s net.titan:8{{$}}
// CHECK-NOT: net.titan

// RULE: cannot be partitioned: it has no sharding rule

//--- conflict.mlir
#x = loc("x"("net.titan":2:3))
#w = loc("w"("net.titan":3:3))
#y = loc("y"("net.titan":4:3))
#h = loc("h"("net.titan":5:3))
#a = loc("a"("net.titan":6:3))
#b = loc("b"("net.titan":7:3))
#s = loc("s"("net.titan":8:3))
dist.mesh @mesh [#dist.axis<t = 2>]
dist.axis_rules "t" shards ["ffn"] fallback ["seq", "embed", "keys"] stores []
func.func @train(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> loc(#x),
                 %w: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>> loc(#w),
                 %a: !titan.tensor<f32[embed = 4, keys = 6], <[{t}, {}]>> loc(#a),
                 %b: !titan.tensor<f32[embed = 4, keys = 6], <[{}, {t}]>> loc(#b)) {
  %y = titan.tanh %x : !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4]> loc(#y)
  %h = titan.contract %y, %w : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) -> !titan.tensor<f32[seq = 8, ffn = 6]> loc(#h)
  %again = titan.contract %y, %w : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) -> !titan.tensor<f32[seq = 8, ffn = 6]> loc(#h)
  %s = titan.contract %a, %b : (!titan.tensor<f32[embed = 4, keys = 6], <[{t}, {}]>>, !titan.tensor<f32[embed = 4, keys = 6], <[{}, {t}]>>) -> !titan.tensor<f32[], <[]>> loc(#s)
  return
}

//--- rule.mlir
dist.mesh @mesh [#dist.axis<t = 2>]
func.func @callee(%x: !titan.tensor<f32[seq = 8]>) {
  return
}
func.func @caller(%x: !titan.tensor<f32[seq = 8]>) {
  func.call @callee(%x) : (!titan.tensor<f32[seq = 8]>) -> ()
  return
}
