// RUN: titan-opt --dist-print-collectives=auto=4 %s -o /dev/null | FileCheck %s

dist.mesh @mesh [#dist.axis<r = auto>, #dist.axis<t = 2>]

// Bytes sent by the ring algorithms: 3/4 of 8 x 4 gathered floats, six times; twice 1/2
// of the reduced value; nothing for a local slice.
// CHECK: @train
// CHECK-NEXT: all_gather over r 6 x 96 bytes w net.titan:7
// CHECK-NEXT: all_reduce over t 1 x 128 bytes y net.titan:9
// CHECK-NEXT: reduce_scatter over r, t 1 x 112 bytes
// CHECK-NEXT: all_to_all over t 1 x 32 bytes
// CHECK-NEXT: 4 collectives; a rank sends 848 bytes a step
func.func @train(%w: !titan.tensor<f32[layers = 6, x = 8, y = 4], <[{}, {}, {}] flat 1 {r}>>,
                 %y: !titan.tensor<f32[x = 8, y = 4], <[{}, {}] partial sum {t}>>,
                 %z: !titan.tensor<f32[x = 8, y = 4], <[{}, {}] partial sum {r, t}>>,
                 %v: !titan.tensor<f32[x = 8, y = 4], <[{t}, {}]>>,
                 %u: !titan.tensor<f32[x = 8, y = 4], <[{}, {}]>>) {
  titan.repeat <layers = 6> iter_args() scanned(%w) : (!titan.tensor<f32[layers = 6, x = 8, y = 4], <[{}, {}, {}] flat 1 {r}>>) -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %s: !titan.tensor<f32[x = 8, y = 4], <[{}, {}] flat 0 {r}>>):
    %0 = dist.all_gather %s over ["r"] : !titan.tensor<f32[x = 8, y = 4], <[{}, {}] flat 0 {r}>> -> !titan.tensor<f32[x = 8, y = 4], <[{}, {}]>> loc("w"("net.titan":7:3))
    titan.yield
  }
  %0 = dist.all_reduce %y over ["t"] : !titan.tensor<f32[x = 8, y = 4], <[{}, {}] partial sum {t}>> -> !titan.tensor<f32[x = 8, y = 4], <[{}, {}]>> loc("y"("net.titan":9:3))
  %1 = dist.reduce_scatter %z over ["r", "t"] : !titan.tensor<f32[x = 8, y = 4], <[{}, {}] partial sum {r, t}>> -> !titan.tensor<f32[x = 8, y = 4], <[{r, t}, {}]>> loc(unknown)
  %2 = dist.all_to_all %v over ["t"] : !titan.tensor<f32[x = 8, y = 4], <[{t}, {}]>> -> !titan.tensor<f32[x = 8, y = 4], <[{}, {t}]>> loc(unknown)
  %3 = dist.local_slice %u over ["t"] : !titan.tensor<f32[x = 8, y = 4], <[{}, {}]>> -> !titan.tensor<f32[x = 8, y = 4], <[{t}, {}]>>
  return
}
