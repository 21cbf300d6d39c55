// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A sharding constraint is the identity.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = titan.sharding_constraint %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[keys = 8]>
  return
}

// -----

// The result of a contraction has only dimensions of the operands.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) no operand has the result's dimension}}
  %0 = titan.contract %x, %x : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[embed = 4]>
  return
}

// -----

// A contraction never sums a dimension that only one operand has.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[embed = 4]>) {
  // expected-error @+1 {{(C2) only one operand has dimension "seq"}}
  %0 = titan.contract %x, %w : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[]>
  return
}

// -----

// A contraction does not convert element types.
func.func @f(%x: !titan.tensor<f32[embed = 4]>, %w: !titan.tensor<f64[embed = 4]>) {
  // expected-error @+1 {{(C3) expected operands of one element type and a result of the same or a wider one}}
  %0 = titan.contract %x, %w : (!titan.tensor<f32[embed = 4]>, !titan.tensor<f64[embed = 4]>) -> !titan.tensor<f32[]>
  return
}

// -----

// `into` has the shape of the result.
func.func @f(%x: !titan.tensor<f32[embed = 4]>, %w: !titan.tensor<f32[embed = 4, ffn = 8]>) {
  // expected-error @+1 {{(C4) `into` is}}
  %0 = titan.contract %x, %w into %x : (!titan.tensor<f32[embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 8]>, !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[ffn = 8]>
  return
}

// -----

// A reduction's result has dimensions of its operand.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) the operand lacks the result's dimension "embed"}}
  %0 = titan.reduce sum %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[embed = 4]>
  return
}

// -----

// Only a dimension of the operand can be indexed.
func.func @f(%x: !titan.tensor<f32[embed = 4]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C1) dimension "vocab" must be one of}}
  %0 = titan.gather %x along "vocab" at %i : (!titan.tensor<f32[embed = 4]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// The dimensions of a gather come from the operand or the indices.
func.func @f(%x: !titan.tensor<f32[vocab = 4]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C2) dimension "embed" is in no operand}}
  %0 = titan.gather %x along "vocab" at %i : (!titan.tensor<f32[vocab = 4]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 2]>
  return
}

// -----

// Indices are integers.
func.func @f(%x: !titan.tensor<f32[seq = 8]>, %i: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C3) expected indices of i64}}
  %0 = titan.scatter %x along "vocab" at %i : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[vocab = 4]>
  return
}

// -----

// A rename does not change sizes.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) sizes differ}}
  %0 = titan.rename %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[keys = 9]>
  return
}

// -----

// The product of the new sizes of a split is the old size.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{is not}}
  %0 = titan.split %x dim "seq" : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[outer = 3, inner = 2]>
  return
}

// -----

// The result of a merge has the named dimension.
func.func @f(%x: !titan.tensor<f32[outer = 4, inner = 2]>) {
  // expected-error @+1 {{(C1) no dimension "embed"}}
  %0 = titan.merge %x dim "embed" : !titan.tensor<f32[outer = 4, inner = 2]> -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A slice is within its dimension.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) the range starting at 6 of size 4 does not fit}}
  %0 = titan.slice %x dim "seq" from 6 : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[prefix = 4]>
  return
}

// -----

// Padding changes one dimension.
func.func @f(%x: !titan.tensor<f32[seq = 4, embed = 4]>) {
  // expected-error @+1 {{(C2) dimension "embed" changes}}
  %0 = titan.pad %x dim "seq" from 2 : !titan.tensor<f32[seq = 4, embed = 4]> -> !titan.tensor<f32[seq = 8, embed = 5]>
  return
}

// -----

// A sum may be wider than its terms, not narrower.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C3) expected operands of one element type and a result of the same or a wider one, got 'f32', 'f32' and 'bf16'}}
  %0 = titan.contract %x, %x : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<bf16[]>
  return
}

// -----

// A maximum is one of the elements, so it has their type.
func.func @f(%x: !titan.tensor<bf16[seq = 8]>) {
  // expected-error @+1 {{(C2) element types differ: 'bf16' and 'f32'}}
  %0 = titan.reduce max %x : !titan.tensor<bf16[seq = 8]> -> !titan.tensor<f32[]>
  return
}

// -----

// The result of a scatter is at least as wide as the updates.
func.func @f(%x: !titan.tensor<f32[seq = 8]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C4) element types differ: 'f32' and 'bf16'}}
  %0 = titan.scatter %x along "vocab" at %i : (!titan.tensor<f32[seq = 8]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<bf16[vocab = 4]>
  return
}

// -----

func.func @put_into_another_type(%x: !titan.tensor<f32[seq = 8]>, %i: !titan.tensor<i64[seq = 8]>, %t: !titan.tensor<f32[vocab = 5]>) {
  // expected-error @below {{(C5) `into` is}}
  %0 = titan.scatter %x along "vocab" at %i into %t : (!titan.tensor<f32[seq = 8]>, !titan.tensor<i64[seq = 8]>, !titan.tensor<f32[vocab = 5]>) -> !titan.tensor<f32[vocab = 4]>
  return
}

// -----

func.func @counts_truth_values(%x: !titan.tensor<i1[seq = 4]>) {
  // expected-error @below {{(C3) a sum is of numbers, not of booleans: cast them first}}
  %0 = titan.reduce sum %x : !titan.tensor<i1[seq = 4]> -> !titan.tensor<i1[]>
  return
}

// -----

func.func @multiplies_truth_values(%x: !titan.tensor<i1[seq = 4]>) {
  // expected-error @below {{(C5) a sum is of numbers, not of booleans: cast them first}}
  %0 = titan.contract %x, %x : (!titan.tensor<i1[seq = 4]>, !titan.tensor<i1[seq = 4]>) -> !titan.tensor<i1[]>
  return
}

// -----

func.func @checks_numbers(%x: !titan.tensor<f32[seq = 4]>) {
  // expected-error @below {{(C1) expected equal types of i64}}
  %0 = titan.check_index %x along "rows" size 3 : !titan.tensor<f32[seq = 4]> -> !titan.tensor<f32[seq = 4]>
  return
}

// -----

// One tensor has the indexed dimension: the right operand or the result.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C1) dimension "experts" must be one of either the right operand or the result}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, ffn = 2]>
  return
}

// -----

// The result of a grouped contraction has only dimensions of the operands.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 3, embed = 4]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C2) no operand has the result's dimension}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, ffn = 2]>
  return
}

// -----

// A grouped contraction never sums a dimension that only one operand has.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C3) only one operand has dimension "ffn"}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A sum over indices would round in bf16 after each term.
func.func @f(%x: !titan.tensor<bf16[seq = 8, embed = 4]>, %w: !titan.tensor<bf16[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C4) the result sums over indices, so it cannot have elements of 'bf16'}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<bf16[seq = 8, embed = 4]>, !titan.tensor<bf16[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<bf16[ffn = 2]>
  return
}

// -----

// A batch dimension of a grouped contraction is one of the indices.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C5) dimension "embed" of both operands and the result is none of the indices}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4, ffn = 2]>
  return
}

// -----

// A grouped contraction does not convert element types.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<bf16[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C6) expected operands of one floating-point type}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<bf16[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, ffn = 2]>
  return
}

// -----

// Indices are integers.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C7) expected indices of i64}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[seq = 8, ffn = 2]>
  return
}

// -----

// `into` has the shape of the result.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, %i: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C8) `into` is}}
  %0 = titan.grouped_contract %x, %w along "experts" at %i into %x : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 2]>, !titan.tensor<i64[seq = 8]>, !titan.tensor<f32[seq = 8, embed = 4]>) -> !titan.tensor<f32[seq = 8, ffn = 2]>
  return
}

// -----

// The range of insert_slice is within the result.
func.func @f(%x: !titan.tensor<f32[seq = 2]>, %into: !titan.tensor<f32[seq = 8, embed = 4]>, %p: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C2) '!titan.tensor<f32[seq = 2]>' is not a range of "seq" of}}
  %0 = titan.insert_slice %x into %into dim "seq" from %p : (!titan.tensor<f32[seq = 2]>, !titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8, embed = 4]>
  return
}

// -----

// The result of insert_slice has the dimensions of the tensor that it changes.
func.func @f(%x: !titan.tensor<f32[seq = 2]>, %into: !titan.tensor<f32[seq = 8]>, %p: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C1) expected equal tensors with the dimension "seq"}}
  %0 = titan.insert_slice %x into %into dim "seq" from %p : (!titan.tensor<f32[seq = 2]>, !titan.tensor<f32[seq = 8]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 9]>
  return
}

// -----

// The start of insert_slice is an integer.
func.func @f(%x: !titan.tensor<f32[seq = 2]>, %into: !titan.tensor<f32[seq = 8]>, %p: !titan.tensor<f32[]>) {
  // expected-error @+1 {{(C3) the start must be an i64, one or one per index of other dimensions}}
  %0 = titan.insert_slice %x into %into dim "seq" from %p : (!titan.tensor<f32[seq = 2]>, !titan.tensor<f32[seq = 8]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[seq = 8]>
  return
}
