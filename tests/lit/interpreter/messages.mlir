// RUN: split-file %s %t
// RUN: titan-interpret %t/ring.mlir --local | FileCheck %s --check-prefix=RING
// RUN: titan-interpret %t/stages.mlir --program first,middle,last --local | FileCheck %s --check-prefix=STAGES
// RUN: titan-opt --titan-plan-memory --titan-verify-memory %t/stages.mlir -o %t/planned.mlir
// RUN: titan-interpret %t/planned.mlir --program first,middle,last --local | FileCheck %s --check-prefix=STAGES
// RUN: not titan-interpret %t/cycle.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: not titan-interpret %t/size.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not titan-interpret %t/offsets.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=OFFSETS

//--- ring.mlir
// Shards go around the ring; the rank at the end of a line has no partner, and the first one keeps its own.
// RING:      rank 0 value 0 = [5, 6]
// RING-NEXT: rank 1 value 0 = [1, 2]
// RING-NEXT: rank 2 value 0 = [3, 4]
// RING-NEXT: rank 0 value 1 = [5, 6]
// RING-NEXT: rank 1 value 1 = [1, 2]
// RING-NEXT: rank 2 value 1 = [3, 4]
// RING-NEXT: rank 0 value 2 = [1, 2]
// RING-NEXT: rank 1 value 2 = [1, 2]
// RING-NEXT: rank 2 value 2 = [3, 4]
// RING-NEXT: rank 0 value 3 = [5, 6]
// RING-NEXT: rank 1 value 3 = [3, 4]
// RING-NEXT: rank 2 value 3 = [5, 6]
dist.mesh @mesh [#dist.axis<a = 3>]
!x = !titan.tensor<f64[x = 6], <[{a}]>>
func.func @train(%v: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>}) -> (!x, !x, !x, !x) {
  %0 = dist.permute %v over ["a"] by 1 : !x -> !x
  %f, %g = dist.permute %v, %0 over ["a"] by -2 start 0 : !x, !x -> !x, !x
  %1, %2 = dist.wait 0 %f, %g reading %v, %0 : (!x, !x, !x, !x) -> (!x, !x)
  dist.send %v over ["a"] by 1 start 1 : !x
  %h = dist.receive %v over ["a"] by 1 start 2 : !x -> !x
  dist.wait 1 reading %v : (!x) -> ()
  %3 = dist.wait 2 %h : (!x) -> !x
  dist.send %v over ["a"] by -2 : !x
  %4 = dist.receive %v over ["a"] by -2 : !x -> !x
  return %0, %1, %3, %4 : !x, !x, !x, !x
}

//--- stages.mlir
// Every stage runs its own program: activations forward, gradients backward. Started messages in
// opposite directions do not wait for each other.
// STAGES:      rank 0 output y = [121]
// STAGES-NEXT: rank 1 output y = [121]
// STAGES-NEXT: rank 2 output y = [111]
dist.mesh @mesh [#dist.axis<pp = 3>]
!x = !titan.tensor<f64[x = 3], <[{pp}]>>
func.func @first(%v: !x {titan.param = "v", titan.value = array<f64: 1.0, 10.0, 100.0>}) -> (!x {titan.output = "y"})
    attributes {titan.program = "first"} {
  dist.send %v over ["pp"] by 1 : !x
  %0 = dist.receive %v over ["pp"] by -1 : !x -> !x
  return %0 : !x
}
func.func @middle(%v: !x {titan.param = "v", titan.value = array<f64: 1.0, 10.0, 100.0>}) -> (!x {titan.output = "y"})
    attributes {titan.program = "middle"} {
  %0 = dist.receive %v over ["pp"] by 1 : !x -> !x
  %1 = titan.add %0, %v : (!x, !x) -> !x
  %f = dist.receive %v over ["pp"] by -1 start 0 : !x -> !x
  dist.send %1 over ["pp"] by 1 start 1 : !x
  dist.wait 1 reading %1 : (!x) -> ()
  %2 = dist.wait 0 %f : (!x) -> !x
  %3 = titan.add %2, %v : (!x, !x) -> !x
  dist.send %3 over ["pp"] by -1 : !x
  return %3 : !x
}
func.func @last(%v: !x {titan.param = "v", titan.value = array<f64: 1.0, 10.0, 100.0>}) -> (!x {titan.output = "y"})
    attributes {titan.program = "last"} {
  %0 = dist.receive %v over ["pp"] by 1 : !x -> !x
  %1 = titan.add %0, %v : (!x, !x) -> !x
  dist.send %1 over ["pp"] by -1 : !x
  return %1 : !x
}

//--- cycle.mlir
// Both ranks send before they receive, so each waits for the other.
// CYCLE: error: deadlock: no rank can proceed
// CYCLE-NEXT: rank 0 at one, cycle.mlir:10:3: dist.send of 1 f64 from rank 0 to rank 1
// CYCLE-NEXT: rank 1 at two, cycle.mlir:15:3: dist.send of 1 f64 from rank 1 to rank 0
dist.mesh @mesh [#dist.axis<a = 2>]
!x = !titan.tensor<f64[x = 2], <[{a}]>>


func.func @one(%v: !x {titan.value = array<f64: 1.0, 2.0>}) -> !x {
  dist.send %v over ["a"] by 1 : !x
  %0 = dist.receive %v over ["a"] by -1 : !x -> !x
  return %0 : !x
}
func.func @two(%v: !x {titan.value = array<f64: 1.0, 2.0>}) -> !x {
  dist.send %v over ["a"] by -1 : !x
  %0 = dist.receive %v over ["a"] by 1 : !x -> !x
  return %0 : !x
}

//--- size.mlir
// SIZE: error: 'dist.receive' op the ends of a message do not match
// SIZE-NEXT: rank 0 at one, size.mlir:{{[0-9]+}}:3: dist.send of 1 f64 from rank 0 to rank 1
// SIZE-NEXT: rank 1 at two, size.mlir:{{[0-9]+}}:{{[0-9]+}}: dist.receive of 2 f64 from rank 0 to rank 1
dist.mesh @mesh [#dist.axis<a = 2>]
!x = !titan.tensor<f64[x = 2], <[{a}]>>
!y = !titan.tensor<f64[x = 4], <[{a}]>>
func.func @one(%v: !x {titan.value = array<f64: 1.0, 2.0>}, %w: !y {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !x {
  dist.send %v over ["a"] by 1 : !x
  return %v : !x
}
func.func @two(%v: !x {titan.value = array<f64: 1.0, 2.0>}, %w: !y {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !x {
  %0 = dist.receive %w over ["a"] by 1 : !y -> !y
  return %v : !x
}

//--- offsets.mlir
// OFFSETS: error: 'dist.permute' op collectives do not match
// OFFSETS-NEXT: rank 0 at one, {{.*}}: dist.permute by 1 of 1 to 1 f64 over ranks [0, 1]
// OFFSETS-NEXT: rank 1 at two, {{.*}}: dist.permute by -1 of 1 to 1 f64 over ranks [0, 1]
dist.mesh @mesh [#dist.axis<a = 2>]
!x = !titan.tensor<f64[x = 2], <[{a}]>>
func.func @one(%v: !x {titan.value = array<f64: 1.0, 2.0>}) -> !x {
  %0 = dist.permute %v over ["a"] by 1 : !x -> !x
  return %0 : !x
}
func.func @two(%v: !x {titan.value = array<f64: 1.0, 2.0>}) -> !x {
  %0 = dist.permute %v over ["a"] by -1 : !x -> !x
  return %0 : !x
}
