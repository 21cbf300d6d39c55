// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s
// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cuda | FileCheck %s --check-prefix=CUDA

dist.mesh @mesh [#dist.axis<cp = 2>]

!row = !titan.tensor<f32[seq = 1, head = 4], <[{}, {}]>>
!all = !titan.tensor<f32[seq = 8, head = 4], <[{}, {}]>>
!half = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
!i = !titan.tensor<i64[], <[]>>

// A cache is overwritten in place: the result has the allocation of the argument, and one row is written.
// Each rank writes the elements of its shard. Attention reads the position of its first query from memory,
// on devices too.
// CHECK-LABEL: namespace decode_ {
// CHECK-NOT: tm::copy
// CHECK: [[TO:.*]] = persistent<float>(ctx, {{.*}});
// CHECK: const int64_t to = {{.*}}position_[0] + seq_at_{{.*}};
// CHECK-NEXT: if (to >= 0 && to < seq_{{.*}})
// CHECK: const int64_t to = {{.*}}position_[0] + seq_at_{{.*}}cp
// CHECK-NEXT: if (to >= 0 && to < seq_{{.*}}cp_)
// CHECK: attention(ctx,
// CHECK: .start = position_
// CUDA-LABEL: namespace decode_ {
// CUDA: tm::launch
// CUDA: const int64_t to = {{.*}}position_[0]
// CUDA: .start = position_
func.func @decode(%x: !row {titan.input = "x"} loc("x"), %k: !all {titan.cache = "k"} loc("k"), %h: !half {titan.cache = "h"} loc("h"),
                  %p: !i {titan.scalar = "position"} loc("position"))
    -> (!row {titan.output = "y"}, !all {titan.updates = 1 : i64}, !half {titan.updates = 2 : i64}) attributes {titan.program = "decode"} {
  %ks = titan.insert_slice %x into %k dim "seq" from %p : (!row, !all, !i) -> !all loc("ks")
  %hs = titan.insert_slice %x into %h dim "seq" from %p : (!row, !half, !i) -> !half loc("hs")
  %y, %lse = titan.attention %x, %ks, %ks from %p along "seq" head "head" {causal, scale = 0.5}
      : (!row, !all, !all, !i) -> (!row, !titan.tensor<f32[seq = 1], <[{}]>>) loc("y")
  return %y, %ks, %hs : !row, !all, !half
}

!text = !titan.tensor<f32[texts = 3, seq = 1, heads = 2, head = 4], <[{}, {}, {}, {}]>>
!texts = !titan.tensor<f32[texts = 3, seq = 8, heads = 2, head = 4], <[{}, {}, {}, {}]>>
!starts = !titan.tensor<i64[texts = 3], <[{}]>>

// Each text has its own position. Rotations by one position are computed once, for all heads.
// CHECK-LABEL: namespace decode_batch_ {
// CHECK: for (int64_t i = 0; i < texts_; ++i)
// CHECK: tm::rotation(seq_at_ + starts_[i], 100.0,
// CHECK: for (int64_t j = 0; j < heads_; ++j)
// CHECK: const int64_t to = starts_[i] + seq_at
// CHECK: attention(ctx,
// CHECK: .start = starts_, {{.*}}.ofStart = {.outer = 1, .kvHead = 0}
// CUDA-LABEL: namespace decode_batch_ {
// CUDA: tm::rotationAt({{.*}} + starts_[i], 100.0,
// CUDA: .ofStart = {.outer = 1, .kvHead = 0}
func.func @decode_batch(%x: !text {titan.input = "x"} loc("x"), %k: !texts {titan.cache = "ks"} loc("k"),
                        %p: !starts {titan.scalar = "starts"} loc("starts"))
    -> (!text {titan.output = "y"}, !texts {titan.updates = 1 : i64}) attributes {titan.program = "decode_batch"} {
  %q = titan.rotary %x along "seq" dim "head" from %p : !starts {theta = 100.0} : !text -> !text loc("q")
  %ks = titan.insert_slice %x into %k dim "seq" from %p : (!text, !texts, !starts) -> !texts loc("ks")
  %y, %lse = titan.attention %q, %ks, %ks from %p along "seq" head "head" {causal, scale = 0.5}
      : (!text, !texts, !texts, !starts) -> (!text, !titan.tensor<f32[texts = 3, seq = 1, heads = 2], <[{}, {}, {}]>>) loc("y")
  return %y, %ks : !text, !texts
}
