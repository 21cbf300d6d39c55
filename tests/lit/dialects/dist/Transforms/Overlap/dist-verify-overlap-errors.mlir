// RUN: titan-opt --dist-verify-overlap --split-input-file -verify-diagnostics %s

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
// Each start needs a wait.
func.func @never(%x: !a) {
  // expected-error @+1 {{starts on channel 4, which is not waited for by the end of the function}}
  %0 = dist.all_gather %x over ["t"] start 4 : !a -> !b
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
func.func @twice(%x: !a) {
  %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  %1 = dist.wait 0 %0 : (!b) -> !b
  // A start has one wait.
  // expected-error @+1 {{waits on channel 0, where nothing is in flight}}
  %2 = dist.wait 0 %0 : (!b) -> !b
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
func.func @busy(%x: !a) {
  // expected-note @+1 {{started here}}
  %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  // A channel has at most one collective in flight.
  // expected-error @+1 {{starts on channel 0, where something is in flight already}}
  %1 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
func.func @early(%x: !a) {
  // expected-note @+1 {{started here}}
  %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  // Values in flight must not be read.
  // expected-error @+1 {{reads a value that is in flight on channel 0}}
  %1 = titan.exp %0 : !b -> !b
  %2 = dist.wait 0 %0 : (!b) -> !b
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
// At the end of an iteration, the collectives that the next iteration waits for must be in flight.
func.func @grows(%x: !a) {
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>):
    // expected-error @+1 {{is in flight at the end of a repeat's body but not at its start}}
    %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
    titan.yield
  }
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
// A body that waits for a start before the repeat must start the channel again.
func.func @shrinks(%x: !a, %y: !b) {
  // expected-error @+1 {{the body of a repeat waits for and does not start again}}
  %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  %1 = titan.repeat <layers = 2> iter_args(%0) scanned() : (!b) -> !b {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %f: !b):
    %2 = dist.wait 0 %f : (!b) -> !b
    titan.yield %2 : !b
  }
  return
}

// -----

!a = !titan.tensor<f32[x = 8], <[{t}]>>
!b = !titan.tensor<f32[x = 8], <[{}]>>
// Each body must leave in flight the collectives that the other bodies expect.
func.func @bodies(%x: !a, %y: !b) {
  // expected-error @+1 {{the body of a repeat waits for and does not start again}}
  %0 = dist.all_gather %x over ["t"] start 0 : !a -> !b
  %1 = titan.repeat <layers = 2> table [0, 1] iter_args(%0) scanned() : (!b) -> !b {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %f: !b):
    %2 = dist.wait 0 %f : (!b) -> !b
    %3 = dist.all_gather %x over ["t"] start 0 : !a -> !b
    titan.yield %3 : !b
  }, {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %f: !b):
    %2 = dist.wait 0 %f : (!b) -> !b
    titan.yield %2 : !b
  }
  return
}
