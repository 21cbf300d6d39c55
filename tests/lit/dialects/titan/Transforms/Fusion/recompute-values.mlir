// RUN: titan-opt --titan-recompute-values %s | FileCheck %s
// RUN: titan-opt --titan-recompute-values --titan-fuse-rows %s | FileCheck %s --check-prefix=FUSED

!rows = !titan.tensor<f32[seq = 32]>
!narrow = !titan.tensor<bf16[seq = 32, embed = 128]>
!wide = !titan.tensor<f32[seq = 32, embed = 128]>
!w = !titan.tensor<bf16[embed = 128, out = 128]>
!out = !titan.tensor<bf16[seq = 32, out = 128]>

// A product separates two loops that read the wide input and the normalised rows. The second loop computes
// both again, from the narrow input and a number per row. The product reads the narrow result, which is in
// memory anyway.
// CHECK-LABEL: func.func @norm(
// CHECK-SAME: %[[X:[a-z0-9]*]]: {{[^%]*}}%[[W:[a-z0-9]*]]:
// CHECK: %[[WIDE:.*]] = titan.cast %[[X]]
// CHECK: %[[R:.*]] = titan.rsqrt
// CHECK: %[[N:.*]] = titan.mul %[[WIDE]], %[[R]]
// CHECK: %[[H:.*]] = titan.cast %[[N]]
// CHECK: %[[Y:.*]] = titan.contract %[[H]], %[[W]]
// CHECK-DAG: %[[WIDE2:.*]] = titan.cast %[[X]]
// CHECK-DAG: %[[N2:.*]] = titan.mul %[[WIDE2]], %[[R]]
// CHECK-DAG: titan.mul %[[WIDE2]], %{{.*}}
// CHECK-DAG: titan.mul %[[N2]], %{{.*}}
// FUSED-LABEL: func.func @norm(
// FUSED: titan.fused rows ["seq"] : !titan.tensor<f32[seq = 32]>, !titan.tensor<bf16[seq = 32, embed = 128]> {
// FUSED: titan.contract
// FUSED: titan.fused
func.func @norm(%x: !narrow, %w: !w, %v: !w) -> (!out, !narrow, !wide) {
  %wide = titan.cast %x : !narrow -> !wide
  %square = titan.mul %wide, %wide : (!wide, !wide) -> !wide
  %sum = titan.reduce sum %square : !wide -> !rows
  %r = titan.rsqrt %sum : !rows -> !rows
  %n = titan.mul %wide, %r : (!wide, !rows) -> !wide
  %h = titan.cast %n : !wide -> !narrow
  %y = titan.contract %h, %w : (!narrow, !w) -> !out
  %dh = titan.contract %y, %v : (!out, !w) -> !narrow
  %dn = titan.cast %dh : !narrow -> !wide
  %a = titan.mul %wide, %dn : (!wide, !wide) -> !wide
  %da = titan.reduce sum %a : !wide -> !rows
  %b = titan.mul %n, %da : (!wide, !rows) -> !wide
  return %y, %h, %b : !out, !narrow, !wide
}

// Values stay in memory if a product reads them, if what they are computed from takes as much, or if no
// product separates the loops.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: titan.exp
// CHECK-NOT: titan.exp
// CHECK: return
func.func @kept(%x: !narrow, %w: !w, %v: !w) -> (!out, !narrow, !narrow) {
  %read = titan.exp %x : !narrow -> !narrow
  %y = titan.contract %read, %w : (!narrow, !w) -> !out
  %z = titan.contract %y, %v : (!out, !w) -> !narrow
  %same = titan.exp %z : !narrow -> !narrow
  %s = titan.add %same, %read : (!narrow, !narrow) -> !narrow
  %near = titan.exp %s : !narrow -> !narrow
  %t = titan.mul %near, %s : (!narrow, !narrow) -> !narrow
  %u = titan.contract %t, %w : (!narrow, !w) -> !out
  %q = titan.contract %u, %v : (!out, !w) -> !narrow
  %p = titan.add %same, %q : (!narrow, !narrow) -> !narrow
  %o = titan.mul %p, %read : (!narrow, !narrow) -> !narrow
  return %u, %o, %t : !out, !narrow, !narrow
}
