// RUN: titan-opt %s --titan-differentiate | FileCheck %s
// RUN: titan-opt %s --titan-differentiate | titan-interpret - --program train --check-gradients --float64 | FileCheck %s --check-prefix=AGREES

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 4, seq = 3]>
!es = !titan.tensor<f64[layers.x2 = 2 of layers, seq = 3]>
!s = !titan.tensor<f64[]>

// Each variant has its own backward body, in the same table. Residuals of one variant have slots
// for its iterations only, and so has the gradient of its parameter. A capture of one variant
// accumulates in that variant and passes through the other.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <layers = 4> table [0, 1, 1, 0] iter_args(%{{.*}}) scanned(%[[W:[^ ,]*]], %[[E:[^ ]*]] for [1]) stacked([0], [1], [1])
// CHECK-SAME: !titan.tensor<f64[layers.x2 = 2 of layers, seq = 3]>
// CHECK: titan.repeat <layers = 4> reverse table [0, 1, 1, 0] iter_args(
// CHECK-SAME: scanned(%[[W]], %[[E]] for [1], %{{[^ ]*}} for [0], %{{[^ ]*}} for [1], %{{[^ ]*}} for [1]) stacked([0, 1], [1])
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %{{[^:]*}}: {{[^:]*}}, %[[SUM0:[^:]*]]:
// CHECK: titan.yield %{{[^,]*}}, %[[SUM0]], %
// CHECK: }, {
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %{{[^:]*}}: {{[^:]*}}, %[[SUM1:[^:]*]]:
// CHECK: %[[NEXT:.*]] = titan.add %[[SUM1]]
// CHECK: titan.yield %{{[^,]*}}, %[[NEXT]], %
// AGREES: gradient x: agrees
// AGREES: gradient shared: agrees
// AGREES: gradient layers.w: agrees
// AGREES: gradient layers.e: agrees
func.func @train(%x: !t {titan.param = "x", titan.init = #titan.init<normal, [1.0]>},
                 %shared: !t {titan.param = "shared", titan.init = #titan.init<normal, [1.0]>},
                 %w: !ws {titan.param = "layers.w", titan.stacked, titan.init = #titan.init<normal, [1.0]>},
                 %e: !es {titan.param = "layers.e", titan.stacked = [array<i64: 1, 2>], titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 4> table [0, 1, 1, 0] iter_args(%x) scanned(%w, %e for [1]) : (!t, !ws, !es) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t):
    %n = titan.mul %c, %wl : (!t, !t) -> !t
    titan.yield %n : !t
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t, %el: !t):
    %0 = titan.mul %c, %el : (!t, !t) -> !t
    %1 = titan.reduce max %0 : !t -> !s
    %2 = titan.mul %0, %1 : (!t, !s) -> !t
    %3 = titan.mul %2, %shared : (!t, !t) -> !t
    %n = titan.add %3, %wl : (!t, !t) -> !t
    titan.yield %n : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}
