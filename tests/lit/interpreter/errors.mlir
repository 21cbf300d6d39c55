// RUN: split-file %s %t
// RUN: not titan-interpret %t/parts.mlir 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not titan-interpret %t/replicas.mlir 2>&1 | FileCheck %s --check-prefix=REPLICAS
// RUN: not titan-interpret %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not titan-interpret %t/divide.mlir 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not titan-interpret %t/program.mlir --program train 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not titan-interpret %t/program.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not titan-interpret %t/parts.mlir --ranks 4 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not titan-interpret %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not titan-interpret %t/program.mlir --inputs %t/none.safetensors 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: cannot read '{{.*}}none.safetensors': No such file or directory

//--- parts.mlir
// Two operands that hold different shards of one dimension.
// PARTS: error: 'titan.add' op matches different shards of dimension "x": [0, 2) and [0, 4)
// PARTS: note: on rank 0: parts, parts.mlir:
// RANKS: error: runs on 2 ranks, not on 4
dist.mesh @mesh [#dist.axis<a = 2>]
!all = !titan.tensor<f64[x = 4], <[{}]>>
!split = !titan.tensor<f64[x = 4], <[{a}]>>
func.func @parts(%v: !all {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}, %w: !split {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !split {
  %0 = titan.add %w, %v : (!split, !all) -> !split
  return %0 : !split
}

//--- replicas.mlir
// A missing reduction: the type says that all ranks hold the same value, but they do not.
// REPLICAS: error: value 0: replicas on ranks 0 and 1 differ at local element 0: 1 and 0
dist.mesh @mesh [#dist.axis<a = 2>]
!all = !titan.tensor<f64[x = 2], <[{}]>>
!partial = !titan.tensor<f64[x = 2], <[{}] partial sum {a}>>
func.func @replicas(%v: !all {titan.value = array<f64: 1.0, 2.0>}) -> !all {
  %0 = dist.make_partial %v over ["a"] : !all -> !partial
  %1 = titan.neg %0 : !partial -> !all
  %2 = titan.neg %1 : !all -> !all
  return %2 : !all
}

//--- divide.mlir
// DIVIDE: error: dimension "x" of size 3 is sharded into 2 shards, which do not divide it
dist.mesh @mesh [#dist.axis<a = 2>]
!split = !titan.tensor<f64[x = 3], <[{a}]>>
func.func @divide(%v: !split {titan.value = array<f64: 1.0, 2.0, 3.0>}) -> !split {
  return %v : !split
}

//--- program.mlir
// PROGRAM: error: the module has no program @train
// PROGRAM: note: it has @other
// VALUE: error: argument 0 (value 0) has no value: expected titan.init, titan.value, a role, or a tensor of that name in the --inputs file
func.func @other(%v: !titan.tensor<f64[x = 3]>) -> () {
  return
}

//--- absent.mlir
// A collective over the wrong axes cannot produce its result type.
// ABSENT: error: 'dist.all_gather' op (C2) does not lead from
dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!all = !titan.tensor<f64[x = 4], <[{}]>>
!split = !titan.tensor<f64[x = 4], <[{a}]>>
func.func @absent(%v: !split {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !all {
  %0 = dist.all_gather %v over ["b"] : !split -> !all
  return %0 : !all
}

//--- outside.mlir
// An index outside of the dimension, here a negative one.
// OUTSIDE: error: index -1 is outside of `rows`, which has 3 elements
func.func @outside(%i: !titan.tensor<i64[n = 2]> {titan.value = array<f64: 2.0, -1.0>}) -> !titan.tensor<i64[n = 2]> {
  %0 = titan.check_index %i along "rows" size 3 : !titan.tensor<i64[n = 2]> -> !titan.tensor<i64[n = 2]>
  return %0 : !titan.tensor<i64[n = 2]>
}
