// RUN: titan-interpret %s --lr 0.5 --steps 2 | FileCheck %s
// RUN: titan-interpret %s --lr 0.5 --steps 2 --warmup 2 | FileCheck %s --check-prefix=WARM

// The bias corrections cancel in the first step: the parameter decays by lr * decay and moves by lr
// against the sign of the gradient: 2 * (1 - 0.05) - 0.5. With a constant gradient the corrected
// moments stay 1, so the second step is equal. States feed back, `step` counts.
!x = !titan.tensor<f64[]>
// CHECK:      step 1
// CHECK-NEXT: update p = 1.39999{{9+}}
// CHECK-NEXT: state m.p = 0.09999{{9+}}
// CHECK-NEXT: state v.p = 0.010000
// CHECK-NEXT: step 2
// CHECK-NEXT: update p = 0.82999{{9+}}
// CHECK-NEXT: state m.p = 0.18999{{9+}}
// CHECK-NEXT: state v.p = 0.019900
// With a warmup of two steps, the first has half the rate: 2 * (1 - 0.025) - 0.25.
// WARM:       step 1
// WARM-NEXT:  update p = 1.7
// WARM:       step 2
// WARM-NEXT:  update p = 1.11499{{9+}}
func.func @train(%p: !x {titan.param = "p", titan.init = #titan.init<constant, [2.0]>}, %m: !x {titan.state = "m.p"},
                 %v: !x {titan.state = "v.p"}, %lr: !x {titan.scalar = "lr"}, %step: !titan.tensor<i64[]> {titan.scalar = "step"})
    -> (!x {titan.updates = 0 : i64}, !x {titan.updates = 1 : i64}, !x {titan.updates = 2 : i64}) {
  %g = titan.constant 4.0 : !x
  %scale = titan.constant 0.25 : !x
  %p1, %m1, %v1 = titan.adamw %p, %g, %m, %v, %lr, %step, %scale {beta1 = 0.9, beta2 = 0.99, eps = 0.0, decay = 0.1}
      : (!x, !x, !x, !x, !x, !titan.tensor<i64[]>, !x) -> (!x, !x, !x)
  return %p1, %m1, %v1 : !x, !x, !x
}

// With `skips_nan`, a NaN scale leaves all values unchanged.
// RUN: titan-interpret %s --program skip --lr 0.5 --steps 2 | FileCheck %s --check-prefix=SKIP
// SKIP:      step 2
// SKIP-NEXT: update p = 2{{$}}
// SKIP-NEXT: state m.p = 0{{$}}
// SKIP-NEXT: state v.p = 0{{$}}
func.func @skip(%p: !x {titan.param = "p", titan.init = #titan.init<constant, [2.0]>}, %m: !x {titan.state = "m.p"},
                %v: !x {titan.state = "v.p"}, %lr: !x {titan.scalar = "lr"}, %step: !titan.tensor<i64[]> {titan.scalar = "step"})
    -> (!x {titan.updates = 0 : i64}, !x {titan.updates = 1 : i64}, !x {titan.updates = 2 : i64}) {
  %g = titan.constant 4.0 : !x
  %minus = titan.constant -1.0 : !x
  %scale = titan.sqrt %minus : !x -> !x
  %p1, %m1, %v1 = titan.adamw %p, %g, %m, %v, %lr, %step, %scale {beta1 = 0.9, beta2 = 0.99, eps = 0.0, decay = 0.1, skips_nan}
      : (!x, !x, !x, !x, !x, !titan.tensor<i64[]>, !x) -> (!x, !x, !x)
  return %p1, %m1, %v1 : !x, !x, !x
}
