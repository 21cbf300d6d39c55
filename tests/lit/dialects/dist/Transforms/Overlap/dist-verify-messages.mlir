// RUN: titan-opt --dist-verify-messages %s
// RUN: titan-interpret %s --program schedule --local | FileCheck %s

// Programs whose messages match, although every send and receive waits for its partner.
dist.mesh @mesh [#dist.axis<pp = 3>, #dist.axis<tp = 2>]
!x = !titan.tensor<f64[x = 6], <[{pp, tp}]>>
!p = !titan.tensor<f64[x = 3], <[{pp}] partial sum {tp}>>
!s = !titan.tensor<f64[x = 3], <[{pp}]>>

// Through the stages forward and backward, past a stage, and in a repeat. Collectives over other axes may be
// in between. Every stage adds its own value, and a ring passes the sums on.
// CHECK:      rank 0 value 0 = [111]
// CHECK-NEXT: rank 1 value 0 = [222]
// CHECK-NEXT: rank 2 value 0 = [1]
// CHECK-NEXT: rank 3 value 0 = [2]
// CHECK-NEXT: rank 4 value 0 = [11]
// CHECK-NEXT: rank 5 value 0 = [22]
func.func @schedule(%v: !x {titan.value = array<f64: 1.0, 2.0, 10.0, 20.0, 100.0, 200.0>},
                    %p: !s {titan.value = array<f64: 1.0, 1.0, 1.0>}) -> (!x, !x, !s) {
  %zero = titan.sub %v, %v : (!x, !x) -> !x
  %a = dist.receive %zero over ["pp"] by 1 : !x -> !x
  %b = titan.add %a, %v : (!x, !x) -> !x
  %q = dist.make_partial %p over ["tp"] : !s -> !p
  %r = dist.all_reduce %q over ["tp"] : !p -> !s
  dist.send %b over ["pp"] by 1 : !x
  %c = dist.receive %zero over ["pp"] by 1 : !x -> !x
  %d = titan.add %c, %v : (!x, !x) -> !x
  dist.send %d over ["pp"] by 1 : !x
  dist.send %d over ["pp"] by -1 : !x
  %e = dist.receive %d over ["pp"] by -1 : !x -> !x
  dist.send %b over ["pp"] by 2 : !x
  %f = dist.receive %b over ["pp"] by 2 : !x -> !x
  %last = dist.all_reduce %q over ["tp"] : !p -> !s
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>):
    dist.send %b over ["pp"] by -1 : !x
    %g = dist.receive %b over ["pp"] by -1 : !x -> !x
    titan.yield
  }
  %sums = dist.permute %d over ["pp"] by 1 : !x -> !x
  return %sums, %f, %last : !x, !x, !s
}
