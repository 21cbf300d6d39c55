// RUN: titan-opt %s --titan-split-turns --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>

// The function must return the losses that parameters minimise.
// expected-error @below {{has no loss "fool", which a parameter minimises}}
func.func @train(%w: !s {titan.param = "w", titan.losses = ["fool"]}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

!s = !titan.tensor<f32[]>

// The periods must repeat after a bounded number of steps.
// expected-error @below {{has parameters whose periods repeat only after more than 1000000 steps}}
func.func @train(%w: !s {titan.param = "w", titan.period = #titan.period<every = 99991, offset = 0>},
                 %v: !s {titan.param = "v", titan.period = #titan.period<every = 99989, offset = 0>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %loss = titan.mul %w, %v : (!s, !s) -> !s
  return %loss : !s
}

// -----

!s = !titan.tensor<f32[]>

// expected-error @below {{(C1) expected every >= 1 and offset >= 0, got 0 and 2}}
func.func @train(%w: !s {titan.param = "w", titan.period = #titan.period<every = 0, offset = 2>}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

// expected-error @below {{(C1) expected periods, at least one of them due, got [] and []}}
func.func private @train.a() attributes {titan.turn = #titan.turn<due = [], idle = []>}

// -----

// expected-error @below {{attribute `titan.turn` must be a #titan.turn, got "always"}}
func.func private @train.a() attributes {titan.turn = "always"}
