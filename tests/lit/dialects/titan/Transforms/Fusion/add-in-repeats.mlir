// RUN: titan-opt --titan-add-in-repeats %s | FileCheck %s
// RUN: titan-opt --titan-add-in-repeats --titan-add-into %s | FileCheck %s --check-prefix=INTO

!i = !titan.tensor<i64[]>
!x = !titan.tensor<f32[x = 8]>
!w = !titan.tensor<f32[x = 8, y = 4]>
!ws = !titan.tensor<f32[layers = 3, x = 8, y = 4]>
!y = !titan.tensor<f32[y = 4]>

// The slots of a sum over microbatches are added in the repeat that computes the terms. The product then accumulates
// into the slot.
// CHECK-LABEL: func.func @sum
// CHECK: %[[NEXT:.*]] = titan.repeat <layers = 3> reverse iter_args() scanned(%arg0)
// CHECK-NEXT: ^bb0({{.*}}, %[[SLOT:[^:]*]]: !titan.tensor<f32[x = 8, y = 4]>)
// CHECK: %[[TERM:.*]] = titan.contract
// CHECK-NEXT: %[[SUM:.*]] = titan.add %[[SLOT]], %[[TERM]]
// CHECK-NEXT: titan.yield %[[SUM]]
// CHECK: return %[[NEXT]]
// INTO-LABEL: func.func @sum
// INTO: ^bb0({{.*}}, %[[SLOT:[^:]*]]: !titan.tensor<f32[x = 8, y = 4]>)
// INTO: titan.contract {{.*}} into %[[SLOT]]
// INTO-NOT: titan.add
// INTO: return
func.func @sum(%before: !ws, %a: !x, %b: !y) -> !ws {
  %terms = titan.repeat <layers = 3> reverse iter_args() scanned() : () -> !ws {
  ^bb0(%l: !i):
    %t = titan.contract %a, %b : (!x, !y) -> !w
    titan.yield %t : !w
  }
  %next = titan.add %before, %terms : (!ws, !ws) -> !ws
  return %next : !ws
}

// A value with another use, or from after the repeat, is added as a whole.
// CHECK-LABEL: func.func @used
// CHECK-COUNT-2: titan.repeat <layers = 3> reverse iter_args() scanned()
// CHECK: titan.add %arg0
// CHECK: titan.add
func.func @used(%before: !ws, %a: !x, %b: !y) -> (!ws, !ws, !ws) {
  %terms:2 = titan.repeat <layers = 3> reverse iter_args() scanned() : () -> (!ws, !ws) {
  ^bb0(%l: !i):
    %t = titan.contract %a, %b : (!x, !y) -> !w
    titan.yield %t, %t : !w, !w
  }
  %later = titan.repeat <layers = 3> reverse iter_args() scanned() : () -> !ws {
  ^bb0(%l: !i):
    %t = titan.contract %a, %b : (!x, !y) -> !w
    titan.yield %t : !w
  }
  %doubled = titan.neg %later : !ws -> !ws
  %0 = titan.add %before, %terms#0 : (!ws, !ws) -> !ws
  %1 = titan.add %doubled, %terms#1 : (!ws, !ws) -> !ws
  return %0, %1, %before : !ws, !ws, !ws
}
