// RUN: titan-opt --dist-propagate -verify-diagnostics -split-input-file %s

// An operation that does not say how it may be split is refused, not guessed.
func.func @callee(%x: !titan.tensor<f32[seq = 8]>) {
  return
}

func.func @caller(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{cannot be partitioned: it has no sharding rule}}
  func.call @callee(%x) : (!titan.tensor<f32[seq = 8]>) -> ()
  return
}

// -----

// Only tensors lie on a mesh.
// expected-error @+1 {{cannot be partitioned: argument 0 is no tensor but 'i64'}}
func.func @number(%n: i64) {
  return
}
