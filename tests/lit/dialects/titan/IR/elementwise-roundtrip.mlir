// RUN: titan-opt %s | titan-opt | FileCheck %s

!rows = !titan.tensor<f32[seq = 8]>
!matrix = !titan.tensor<f32[seq = 8, embed = 4]>
!weights = !titan.tensor<f32[embed = 4]>
!scalar = !titan.tensor<f32[]>

// Unary functions do not change dimensions and element type.
// CHECK-LABEL: func.func @unary
func.func @unary(%x: !rows) -> !rows {
  // CHECK: titan.neg
  %0 = titan.neg %x : !rows -> !rows
  // CHECK: titan.exp
  %1 = titan.exp %0 : !rows -> !rows
  // CHECK: titan.log
  %2 = titan.log %1 : !rows -> !rows
  // CHECK: titan.sqrt
  %3 = titan.sqrt %2 : !rows -> !rows
  // CHECK: titan.rsqrt
  %4 = titan.rsqrt %3 : !rows -> !rows
  // CHECK: titan.tanh
  %5 = titan.tanh %4 : !rows -> !rows
  // CHECK: titan.sigmoid
  %6 = titan.sigmoid %5 : !rows -> !rows
  // CHECK: titan.erf
  %7 = titan.erf %6 : !rows -> !rows
  // CHECK: titan.sin
  %8 = titan.sin %7 : !rows -> !rows
  // CHECK: titan.cos
  %9 = titan.cos %8 : !rows -> !rows
  // CHECK: titan.floor
  %10 = titan.floor %9 : !rows -> !rows
  return %10 : !rows
}

// Binary functions match the dimensions of their operands by name.
// CHECK-LABEL: func.func @binary
func.func @binary(%x: !matrix, %w: !weights) -> !matrix {
  // CHECK: titan.add %{{.*}}, %{{.*}} : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[seq = 8, embed = 4]>
  %0 = titan.add %x, %w : (!matrix, !weights) -> !matrix
  // CHECK: titan.sub
  %1 = titan.sub %0, %w : (!matrix, !weights) -> !matrix
  // CHECK: titan.mul
  %2 = titan.mul %1, %w : (!matrix, !weights) -> !matrix
  // CHECK: titan.div
  %3 = titan.div %2, %w : (!matrix, !weights) -> !matrix
  // CHECK: titan.maximum
  %4 = titan.maximum %3, %w : (!matrix, !weights) -> !matrix
  // CHECK: titan.minimum
  %5 = titan.minimum %4, %w : (!matrix, !weights) -> !matrix
  return %5 : !matrix
}

// Comparison yields booleans, select reads them, casts change only the element type.
// CHECK-LABEL: func.func @choice
func.func @choice(%x: !matrix, %y: !matrix) -> !titan.tensor<f64[seq = 8, embed = 4]> {
  // CHECK: titan.compare ge, %{{.*}} -> !titan.tensor<i1[seq = 8, embed = 4]>
  %m = titan.compare ge, %x, %y : (!matrix, !matrix) -> !titan.tensor<i1[seq = 8, embed = 4]>
  // CHECK: titan.select
  %s = titan.select %m, %x, %y : (!titan.tensor<i1[seq = 8, embed = 4]>, !matrix, !matrix) -> !matrix
  // CHECK: titan.cast
  %c = titan.cast %s : !matrix -> !titan.tensor<f64[seq = 8, embed = 4]>
  // CHECK: titan.cast round_before_reduce
  %n = titan.cast round_before_reduce %c : !titan.tensor<f64[seq = 8, embed = 4]> -> !matrix
  return %c : !titan.tensor<f64[seq = 8, embed = 4]>
}

// Constants have rank 0, iota has rank 1, expand broadcasts.
// CHECK-LABEL: func.func @made
func.func @made() -> !matrix {
  // CHECK: titan.constant 1.000000e-05 : <f32[]>
  %eps = titan.constant 1.0e-5 : !scalar
  // CHECK: titan.constant -1.500000e+00 : <f32[]>
  %negative = titan.constant -1.5 : !scalar
  // CHECK: titan.constant 0x7FF0000000000000 : <f32[]>
  %infinity = titan.constant 0x7FF0000000000000 : !scalar
  // CHECK: titan.constant -9007199254740993 : <i64[]>
  %large = titan.constant -9007199254740993 : !titan.tensor<i64[]>
  // CHECK: titan.constant 1 : <i1[]>
  %yes = titan.constant 1 : !titan.tensor<i1[]>
  // CHECK: titan.copy %{{.*}} : <f32[]> -> <f32[]>
  %copy = titan.copy %eps : !scalar -> !scalar
  // CHECK: titan.iota : <i64[seq = 8]>
  %i = titan.iota : !titan.tensor<i64[seq = 8]>
  // CHECK: titan.expand
  %e = titan.expand %eps : !scalar -> !matrix
  return %e : !matrix
}

// An apply has several results, computed by one function of scalars.
// CHECK: titan.scalar_function @momentum {
// CHECK-NEXT: ^bb0(%{{.*}}: !titan.tensor<f32[]>, %{{.*}}: !titan.tensor<f32[]>, %{{.*}}: !titan.tensor<f32[]>):
// CHECK: titan.pow
// CHECK: titan.yield
titan.scalar_function @momentum {
^bb0(%p: !scalar, %m: !scalar, %t: !scalar):
  %power = titan.pow %m, %t : (!scalar, !scalar) -> !scalar
  %next = titan.sub %p, %power : (!scalar, !scalar) -> !scalar
  titan.yield %next, %power : !scalar, !scalar
}
// CHECK-LABEL: func.func @update
func.func @update(%p: !weights, %m: !weights, %t: !scalar) -> (!weights, !weights) {
  // CHECK: titan.apply @momentum(%{{.*}}, %{{.*}}, %{{.*}}) :
  %0:2 = titan.apply @momentum(%p, %m, %t) : (!weights, !weights, !scalar) -> (!weights, !weights)
  return %0#0, %0#1 : !weights, !weights
}
