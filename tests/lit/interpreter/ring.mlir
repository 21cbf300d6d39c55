// RUN: titan-interpret %s --local | FileCheck %s

// In step 1 of a ring over two ranks, each rank has the keys of the other. Scores are equal, so a result is the mean of the
// visible values. Rank 0 sees none: its result is 0 and its log-sum-exp minus infinity.
dist.mesh @mesh [#dist.axis<cp = 2>]
!q = !titan.tensor<f64[seq = 4, head = 1], <[{cp}, {}]>>
!lse = !titan.tensor<f64[seq = 4], <[{cp}]>>

// CHECK-DAG: rank 0 value 0 = {{\[\[}}0], [0]]
// CHECK-DAG: rank 0 value 1 = [-inf, -inf]
// CHECK-DAG: rank 1 value 0 = {{\[\[}}1.5], [1.5]]
// CHECK-DAG: rank 1 value 1 = [0.69314718055994529, 0.69314718055994529]
func.func @step(%q: !q {titan.value = array<f64: 0.0, 0.0, 0.0, 0.0>},
                %v: !q {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> (!q, !lse) {
  %step = titan.constant 1 : !titan.tensor<i64[], <[]>>
  %there = dist.permute %v over ["cp"] by 1 : !q -> !q
  %y, %lse = titan.attention %q, %there, %there ring %step over ["cp"] along "seq" head "head" {scale = 0.0, causal} : (!q, !q, !q, !titan.tensor<i64[], <[]>>) -> (!q, !lse)
  return %y, %lse : !q, !lse
}
