// RUN: titan-interpret %s --lr 0.5 --steps 2 | FileCheck %s

// AdamW as a function of scalars. The moments' bias corrections cancel in the first step, so the parameter
// moves by lr against the gradient's sign after decaying by lr * decay: 2 * (1 - 0.05) - 0.5. With a constant
// gradient the corrected moments stay 1, so the second step is equal. State is fed back, and `step` counts.
!x = !titan.tensor<f64[]>
!i = !titan.tensor<i64[]>
// CHECK:      step 1
// CHECK-NEXT: update p = 1.39999{{9+}}
// CHECK-NEXT: state m.p = 0.10000
// CHECK-NEXT: state v.p = 0.01{{$}}
// CHECK-NEXT: step 2
// CHECK-NEXT: update p = 0.829999
// CHECK-NEXT: state m.p = 0.19{{$}}
// CHECK-NEXT: state v.p = 0.019900
titan.scalar_function @adamw {
^bb0(%p: !x, %g: !x, %m: !x, %v: !x, %lr: !x, %step: !i):
  %one = titan.constant 1.0 : !x
  %beta1 = titan.constant 0.9 : !x
  %new1 = titan.constant 0.1 : !x
  %beta2 = titan.constant 0.99 : !x
  %new2 = titan.constant 0.01 : !x
  %decay = titan.constant 0.1 : !x
  %t = titan.cast %step : !i -> !x
  %old_m = titan.mul %beta1, %m : (!x, !x) -> !x
  %add_m = titan.mul %new1, %g : (!x, !x) -> !x
  %m1 = titan.add %old_m, %add_m : (!x, !x) -> !x
  %square = titan.mul %g, %g : (!x, !x) -> !x
  %old_v = titan.mul %beta2, %v : (!x, !x) -> !x
  %add_v = titan.mul %new2, %square : (!x, !x) -> !x
  %v1 = titan.add %old_v, %add_v : (!x, !x) -> !x
  %power1 = titan.pow %beta1, %t : (!x, !x) -> !x
  %c1 = titan.sub %one, %power1 : (!x, !x) -> !x
  %power2 = titan.pow %beta2, %t : (!x, !x) -> !x
  %c2 = titan.sub %one, %power2 : (!x, !x) -> !x
  %mean = titan.div %m1, %c1 : (!x, !x) -> !x
  %variance = titan.div %v1, %c2 : (!x, !x) -> !x
  %deviation = titan.sqrt %variance : !x -> !x
  %direction = titan.div %mean, %deviation : (!x, !x) -> !x
  %shrink = titan.mul %lr, %decay : (!x, !x) -> !x
  %keep = titan.sub %one, %shrink : (!x, !x) -> !x
  %kept = titan.mul %p, %keep : (!x, !x) -> !x
  %move = titan.mul %lr, %direction : (!x, !x) -> !x
  %p1 = titan.sub %kept, %move : (!x, !x) -> !x
  titan.yield %p1, %m1, %v1 : !x, !x, !x
}
func.func @train(%p: !x {titan.param = "p", titan.init = #titan.init<constant, [2.0]>}, %m: !x {titan.state = "m.p"},
                 %v: !x {titan.state = "v.p"}, %lr: !x {titan.scalar = "lr"}, %step: !i {titan.scalar = "step"})
    -> (!x {titan.updates = 0 : i64}, !x {titan.updates = 1 : i64}, !x {titan.updates = 2 : i64}) {
  %g = titan.constant 1.0 : !x
  %p1, %m1, %v1 = titan.apply @adamw(%p, %g, %m, %v, %lr, %step) : (!x, !x, !x, !x, !x, !i) -> (!x, !x, !x)
  return %p1, %m1, %v1 : !x, !x, !x
}

// Every step is rounded to its element type, not only the result: 1 + 2^-9 is 1 in bf16.
// RUN: titan-interpret %s --program rounded | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: output y = 0{{$}}
!b = !titan.tensor<bf16[]>
titan.scalar_function @around {
^bb0(%x: !b, %small: !b):
  %sum = titan.add %x, %small : (!b, !b) -> !b
  %difference = titan.sub %sum, %x : (!b, !b) -> !b
  titan.yield %difference : !b
}
func.func @rounded() -> (!b {titan.output = "y"}) {
  %one = titan.constant 1.0 : !b
  %small = titan.constant 0.001953125 : !b
  %y = titan.apply @around(%one, %small) : (!b, !b) -> !b
  return %y : !b
}
