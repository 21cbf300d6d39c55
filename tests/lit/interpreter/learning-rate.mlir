// The learning rate of a step is `optimizer.lr` of the run times its schedule: here the fraction of the steps that
// are done, halved because `decay` is the second of its words.
// RUN: titan-interpret %s --steps 2 --learning-rates | FileCheck %s --check-prefix=RATES
// RATES: step 1: 0.125{{$}}
// RATES-NEXT: step 2: 0.25{{$}}

// A step uses this learning rate, or the one of the command line.
// RUN: titan-interpret %s --steps 2 | FileCheck %s
// CHECK: update p = 1.875{{$}}
// CHECK: update p = 1.625{{$}}
// RUN: titan-interpret %s --steps 2 --lr 0.5 | FileCheck %s --check-prefix=GIVEN
// GIVEN: update p = 1.5{{$}}
// GIVEN: update p = 1{{$}}

// A setting that the run lacks is an error.
// RUN: sed 's/schedule.decay" = /schedule.other" = /' %s | not titan-interpret - --learning-rates 2>&1 | FileCheck %s --check-prefix=LACKS
// LACKS: error: 'titan.scalar_function' op reads the setting "schedule.decay", which the run lacks
!x = !titan.tensor<f64[]>
module attributes {titan.run = {
    "optimizer.lr" = #titan.setting<0.5 : f64, takes = "number", least = 0.0>,
    "schedule.decay" = #titan.setting<"half", takes = "word", choices = ["none", "half"]>,
    "steps" = #titan.setting<2 : i64, takes = "integer", least = 1.0>}} {
  titan.scalar_function @schedule.parts attributes {titan.schedule = ["step", "steps", "schedule.decay"]} {
  ^bb0(%step: !x, %steps: !x, %decay: !x):
    %one = titan.constant 1.0 : !x
    %whole = titan.div %step, %steps : (!x, !x) -> !x
    %divisor = titan.add %decay, %one : (!x, !x) -> !x
    %factor = titan.div %whole, %divisor : (!x, !x) -> !x
    titan.yield %factor : !x
  }
  func.func @train(%p: !x {titan.param = "p", titan.init = #titan.init<constant, [2.0]>}, %lr: !x {titan.scalar = "lr"})
      -> (!x {titan.updates = 0 : i64}) {
    %p1 = titan.sub %p, %lr : (!x, !x) -> !x
    return %p1 : !x
  }
}
