// RUN: titan-opt --dist-verify-messages --split-input-file -verify-diagnostics %s
// A send needs a receive in the same block.
!x = !titan.tensor<f32[x = 8], <[{pp}]>>
func.func @lost(%x: !x) {
  // expected-error @+1 {{has no matching receive in its block}}
  dist.send %x over ["pp"] by 1 : !x
  return
}

// -----
// A receive needs a send in the same block.
!x = !titan.tensor<f32[x = 8], <[{pp}]>>
func.func @missing(%x: !x) {
  // expected-error @+1 {{has no matching send in its block}}
  %0 = dist.receive %x over ["pp"] by 1 : !x -> !x
  return
}

// -----

!x = !titan.tensor<f32[x = 8], <[{pp}]>>
!y = !titan.tensor<f32[y = 8], <[{pp}]>>
// Messages arrive in the order of their sends.
func.func @types(%x: !x, %y: !y) {
  // expected-note @+1 {{opened here}}
  dist.send %x over ["pp"] by 1 : !x
  dist.send %y over ["pp"] by 1 : !y
  // expected-error @+1 {{does not match the message that its partner reaches first}}
  %1 = dist.receive %y over ["pp"] by 1 : !y -> !y
  %0 = dist.receive %x over ["pp"] by 1 : !x -> !x
  return
}

// -----

!x = !titan.tensor<f32[x = 8], <[{pp}]>>
// All ranks send first, in both directions: each middle rank would wait for the next one.
func.func @bothSend(%x: !x) {
  // expected-note @+1 {{opened here}}
  dist.send %x over ["pp"] by 1 : !x
  // expected-error @+1 {{does not match the message that its partner reaches first}}
  dist.send %x over ["pp"] by -1 : !x
  %0 = dist.receive %x over ["pp"] by -1 : !x -> !x
  %1 = dist.receive %x over ["pp"] by 1 : !x -> !x
  return
}

// -----
// Open messages have one distance.
!x = !titan.tensor<f32[x = 8], <[{pp}]>>
func.func @links(%x: !x) {
  // expected-note @+1 {{opened here}}
  dist.send %x over ["pp"] by 1 : !x
  // expected-error @+1 {{belongs to another link than a message that is open}}
  dist.send %x over ["pp"] by 2 : !x
  %0 = dist.receive %x over ["pp"] by 1 : !x -> !x
  %1 = dist.receive %x over ["pp"] by 2 : !x -> !x
  return
}

// -----

!p = !titan.tensor<f32[x = 8], <[{}] partial sum {pp}>>
!s = !titan.tensor<f32[x = 8], <[{}]>>
// The first rank waits for all ranks in the sum, and they wait for its message.
func.func @collective(%x: !s, %p: !p) {
  // expected-note @+1 {{opened here}}
  %0 = dist.receive %x over ["pp"] by 1 : !s -> !s
  // expected-error @+1 {{communicates over an axis of a message that is open}}
  %1 = dist.all_reduce %p over ["pp"] : !p -> !s
  dist.send %1 over ["pp"] by 1 : !s
  return
}

// -----
// The body of a repeat must not close a message that is open before the repeat.
!x = !titan.tensor<f32[x = 8], <[{pp}]>>
func.func @inRepeat(%x: !x) {
  // expected-note @+1 {{opened here}}
  dist.send %x over ["pp"] by 1 : !x
  // expected-error @+1 {{communicates inside while a message is open}}
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>):
    %0 = dist.receive %x over ["pp"] by 1 : !x -> !x
    titan.yield
  }
  return
}
