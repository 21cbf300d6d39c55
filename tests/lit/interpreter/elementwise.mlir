// RUN: titan-interpret %s --gather | FileCheck %s

// Unary functions, element by element.
func.func @elementwise(
    %x: !titan.tensor<f64[seq = 3]> {titan.value = array<f64: 1.0, 4.0, 0.25>},
    %y: !titan.tensor<f64[seq = 3]> {titan.value = array<f64: 2.0, 3.0, -1.0>},
    %w: !titan.tensor<f64[embed = 2]> {titan.value = array<f64: 10.0, 20.0>})
    -> (!titan.tensor<f64[seq = 3]> {titan.output = "neg"}, !titan.tensor<f64[seq = 3]> {titan.output = "sqrt"},
        !titan.tensor<f64[seq = 3]> {titan.output = "rsqrt"},
        !titan.tensor<f64[seq = 3]> {titan.output = "sub"}, !titan.tensor<f64[seq = 3]> {titan.output = "maximum"},
        !titan.tensor<f64[seq = 3, embed = 2]> {titan.output = "joined"},
        !titan.tensor<f64[embed = 2, seq = 3]> {titan.output = "transposed"},
        !titan.tensor<f64[seq = 3]> {titan.output = "chosen"},
        !titan.tensor<i64[seq = 3]> {titan.output = "positions"},
        !titan.tensor<f64[seq = 3, embed = 2]> {titan.output = "expanded"},
        !titan.tensor<f64[]> {titan.output = "constant"}, !titan.tensor<f64[seq = 3]> {titan.output = "erf"},
        !titan.tensor<f64[seq = 3]> {titan.output = "sin"}, !titan.tensor<f64[seq = 3]> {titan.output = "cos"},
        !titan.tensor<f64[seq = 3]> {titan.output = "floor"}) {
  // CHECK: output neg:
  // CHECK-NEXT: [-1, -4, -0.25]
  %neg = titan.neg %x : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output sqrt:
  // CHECK-NEXT: [1, 2, 0.5]
  %sqrt = titan.sqrt %x : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output rsqrt:
  // CHECK-NEXT: [1, 0.5, 2]
  %rsqrt = titan.rsqrt %x : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output sub:
  // CHECK-NEXT: [-1, 1, 1.25]
  %sub = titan.sub %x, %y : (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>) -> !titan.tensor<f64[seq = 3]>
  // CHECK: output maximum:
  // CHECK-NEXT: [2, 4, 0.25]
  %max = titan.maximum %x, %y : (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>) -> !titan.tensor<f64[seq = 3]>

  // Operands broadcast by dimension names, each along the dimensions it lacks.
  // CHECK: output joined:
  // CHECK-NEXT: {{\[\[}}10, 20], [40, 80], [2.5, 5]]
  %joined = titan.mul %x, %w : (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[embed = 2]>) -> !titan.tensor<f64[seq = 3, embed = 2]>
  // CHECK: output transposed:
  // CHECK-NEXT: {{\[\[}}11, 14, 10.25], [21, 24, 20.25]]
  %transposed = titan.add %x, %w : (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[embed = 2]>) -> !titan.tensor<f64[embed = 2, seq = 3]>

  // CHECK: output chosen:
  // CHECK-NEXT: [1, 3, -1]
  %less = titan.compare lt, %x, %y : (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>) -> !titan.tensor<i1[seq = 3]>
  %chosen = titan.select %less, %x, %y : (!titan.tensor<i1[seq = 3]>, !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>) -> !titan.tensor<f64[seq = 3]>
  // CHECK: output positions:
  // CHECK-NEXT: [0, 1, 2]
  %positions = titan.iota : !titan.tensor<i64[seq = 3]>
  // CHECK: output expanded:
  // CHECK-NEXT: {{\[\[}}1, 1], [4, 4], [0.25, 0.25]]
  %expanded = titan.expand %x : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3, embed = 2]>
  // CHECK: output constant = 0.5
  %constant = titan.constant 0.5 : !titan.tensor<f64[]>
  // The error function at 2, 3 and -1 (Abramowitz and Stegun 1964, table 7.1).
  // CHECK: output erf:
  // CHECK-NEXT: [0.9953222650{{.*}}, 0.9999779095{{.*}}, -0.8427007929{{.*}}]
  %erf = titan.erf %y : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output sin:
  // CHECK-NEXT: [0.90929742682568{{.*}}, 0.14112000805986{{.*}}, -0.84147098480789{{.*}}]
  %sin = titan.sin %y : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output cos:
  // CHECK-NEXT: [-0.4161468365471{{.*}}, -0.989992496600{{.*}}, 0.5403023058681{{.*}}]
  %cos = titan.cos %y : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  // CHECK: output floor:
  // CHECK-NEXT: [-1, -4, -1]
  %floor = titan.floor %neg : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  return %neg, %sqrt, %rsqrt, %sub, %max, %joined, %transposed, %chosen, %positions, %expanded, %constant, %erf, %sin, %cos, %floor
    : !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>,
      !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3, embed = 2]>, !titan.tensor<f64[embed = 2, seq = 3]>,
      !titan.tensor<f64[seq = 3]>, !titan.tensor<i64[seq = 3]>, !titan.tensor<f64[seq = 3, embed = 2]>, !titan.tensor<f64[]>,
      !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>, !titan.tensor<f64[seq = 3]>
}
