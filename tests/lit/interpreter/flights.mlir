// RUN: split-file %s %t
// RUN: titan-interpret %t/right.mlir --local | FileCheck %s --check-prefix=RIGHT
// RUN: not titan-interpret %t/order.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not titan-interpret %t/changed.mlir 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: not titan-interpret %t/overwritten.mlir 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: not titan-interpret %t/left.mlir 2>&1 | FileCheck %s --check-prefix=LEFT

//--- right.mlir
// Several values in one coalesced collective; results are available after the wait. The last layer
// has no next layer, so nothing is in flight after the repeat.
// RIGHT:      rank 0 value 0 = [1, 2]
// RIGHT-NEXT: rank 1 value 0 = [1, 2]
// RIGHT-NEXT: rank 0 value 1 = [3, 4]
// RIGHT-NEXT: rank 1 value 1 = [3, 4]
// RIGHT-NEXT: rank 0 value 2 = [9, 12]
dist.mesh @mesh [#dist.axis<a = 2>]
!all = !titan.tensor<f64[x = 2], <[{}]>>
!part = !titan.tensor<f64[x = 2], <[{a}]>>
!stack = !titan.tensor<f64[layers = 3, x = 2], <[{}, {a}]>>

func.func @train(%v: !part {titan.value = array<f64: 1.0, 2.0>}, %u: !part {titan.value = array<f64: 3.0, 4.0>},
                 %w: !stack {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>}) -> (!all, !all, !all) {
  %f, %g = dist.all_gather %v, %u over ["a"] start 0 : !part, !part -> !all, !all
  %x, %y = dist.wait 0 %f, %g reading %v, %u : (!all, !all, !part, !part) -> (!all, !all)
  %nothing = titan.constant 0.0 : !titan.tensor<f64[], <[]>>
  %zero = titan.expand %nothing : !titan.tensor<f64[], <[]>> -> !all
  %first = dist.layer %w[0] : !stack -> !part
  %h = dist.all_gather %first over ["a"] start 1 : !part -> !all
  %sum, %rest = titan.repeat <layers = 3> iter_args(%zero, %h) scanned() : (!all, !all) -> (!all, !all) {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !all, %fl: !all):
    %wl = dist.wait 1 %fl : (!all) -> !all
    %next = dist.layer %w[%l + 1] : !stack -> !part
    %n = dist.all_gather %next over ["a"] start 1 : !part -> !all
    %d = titan.add %c, %wl : (!all, !all) -> !all
    titan.yield %d, %n : !all, !all
  }
  return %x, %y, %sum : !all, !all, !all
}

//--- order.mlir
// Collectives happen in the order of their starts, not of their waits.
// ORDER: error: {{.*}}collectives do not match
// ORDER-NEXT: rank 0 at one, order.mlir:12:{{[0-9]+}}: dist.all_gather of 1 to 2 f64 over ranks [0, 1]
// ORDER-NEXT: rank 1 at two, order.mlir:19:{{[0-9]+}}: dist.all_gather of 2 to 4 f64 over ranks [0, 1]
dist.mesh @mesh [#dist.axis<a = 2>]
!b = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
!d = !titan.tensor<f64[x = 4], <[{}]>>
!c = !titan.tensor<f64[x = 4], <[{a}]>>

func.func @one(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %u: !c {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !b {
  %f = dist.all_gather %v over ["a"] start 0 : !a -> !b
  %g = dist.all_gather %u over ["a"] start 1 : !c -> !d
  %y = dist.wait 1 %g : (!d) -> !d
  %x = dist.wait 0 %f : (!b) -> !b
  return %x : !b
}
func.func @two(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %u: !c {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !b {
  %g = dist.all_gather %u over ["a"] start 1 : !c -> !d
  %f = dist.all_gather %v over ["a"] start 0 : !a -> !b
  %y = dist.wait 1 %g : (!d) -> !d
  %x = dist.wait 0 %f : (!b) -> !b
  return %x : !b
}

//--- changed.mlir
// An operand's memory is reused before the collective has read it.
// CHANGED: error: 'dist.wait' op finds an operand changed while it was being read
!b = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
module attributes {titan.persistent = [#titan.allocation<"v", !a, 0 to 0>, #titan.allocation<"y", !b, 0 to 0>]} {
  dist.mesh @mesh [#dist.axis<a = 2>]
  func.func @train(%v: !a {titan.param = "v", titan.value = array<f64: 1.0, 2.0>}) -> (!b {titan.output = "y"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"e", !a, 0 to 5>, #titan.allocation<"f", !b, 0 to 5>]} {
    %e = titan.exp %v {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !a
    %f = dist.all_gather %e over ["a"] start 0 {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : !a -> !b
    %g = titan.neg %v {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !a
    %y = dist.wait 0 %f reading %e {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!b, !a) -> !b
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>]} %y : !b
  }
}

//--- overwritten.mlir
// A result is overwritten while the collective is in flight.
// OVERWRITTEN: error: 'dist.wait' op finds a value in flight overwritten
!b = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
module attributes {titan.persistent = [#titan.allocation<"v", !a, 0 to 0>, #titan.allocation<"y", !b, 0 to 0>]} {
  dist.mesh @mesh [#dist.axis<a = 2>]
  func.func @train(%v: !a {titan.param = "v", titan.value = array<f64: 1.0, 2.0>}) -> (!b {titan.output = "y"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"f", !b, 0 to 5>]} {
    %f = dist.all_gather %v over ["a"] start 0 {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !b
    %g = titan.neg %v {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !a
    %y = dist.wait 0 %f reading %v {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : (!b, !a) -> !b
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>]} %y : !b
  }
}

//--- left.mlir
// A rank must not end with a collective in flight.
// LEFT: error: 'func.return' op leaves values in flight on channel 7
// LEFT: note: started here
dist.mesh @mesh [#dist.axis<a = 2>]
!b = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
func.func @train(%v: !a {titan.value = array<f64: 1.0, 2.0>}) -> !a {
  %f = dist.all_gather %v over ["a"] start 7 : !a -> !b
  return %v : !a
}
