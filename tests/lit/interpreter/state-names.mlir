// RUN: titan-interpret %s --dump %t.safetensors | FileCheck %s
// RUN: titan-interpret %s --inputs %t.safetensors | FileCheck %s --check-prefix=READ
// RUN: env LC_ALL=C sed 's/"update[.]m.w"/       "m.w"/; s/"state[.]m.w"/"other.m.w"/' %t.safetensors > %t-one.safetensors
// RUN: titan-interpret %s --inputs %t-one.safetensors | FileCheck %s --check-prefix=ONE

// A parameter `m.w` beside the moment `m` of a parameter `w`: both are printed and written under different names.
!x = !titan.tensor<f64[]>
// CHECK:      update w = 2
// CHECK-NEXT: update m.w = 4
// CHECK-NEXT: state m.w = 10
// Both are read again.
// READ:      update w = 3
// READ-NEXT: update m.w = 5
// READ-NEXT: state m.w = 20
// A name without a prefix is that of the parameter.
// ONE:      update w = 3
// ONE-NEXT: update m.w = 5
// ONE-NEXT: state m.w = 10
func.func @train(%w: !x {titan.param = "w", titan.init = #titan.init<constant, [1.0]>},
                 %mw: !x {titan.param = "m.w", titan.init = #titan.init<constant, [3.0]>}, %m: !x {titan.state = "m.w"})
    -> (!x {titan.updates = 0 : i64}, !x {titan.updates = 1 : i64}, !x {titan.updates = 2 : i64}) {
  %one = titan.constant 1.0 : !x
  %ten = titan.constant 10.0 : !x
  %w1 = titan.add %w, %one : (!x, !x) -> !x
  %mw1 = titan.add %mw, %one : (!x, !x) -> !x
  %m1 = titan.add %m, %ten : (!x, !x) -> !x
  return %w1, %mw1, %m1 : !x, !x, !x
}
