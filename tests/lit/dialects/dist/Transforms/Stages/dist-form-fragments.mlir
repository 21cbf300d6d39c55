// The fragments of a step with two stages: their operations and the values that cross fragments. Values
// that depend on no parameter or stage (the zeros of sums) do not cross.
// RUN: titan-opt --dist-form-fragments %s | FileCheck %s

// Fragments refer to their program, so that passes of MLIR keep its declaration.
// RUN: titan-opt --dist-form-fragments --symbol-dce %s | FileCheck %s --check-prefix=KEPT
// KEPT: func.func @train.begin.0({{.*}}dist.program = @train
// KEPT: func.func private @train(

// The sums of gradients and losses start at zero on the stage that computes them.
// CHECK-LABEL: func.func @train.begin.0()
// CHECK-SAME: <f32[a = 1]> {titan.step_value = "[[SUM_A:[^"]*]]"}, {{.*}}<f32[vocab = 4]> {titan.step_value = "[[SUM_TABLE:[^"]*]]"}
// CHECK-SAME: dist.fragment = #dist.fragment<kind = begin, stage = 0>
// CHECK-LABEL: func.func @train.begin.1()
// CHECK-SAME: {titan.step_value = "[[LOSS:[^"]*]]"}, {{.*}} {titan.step_value = "[[SUM_B:[^"]*]]"}

// The lookup of the tokens runs on the first stage, which reads the slot of its microbatch.
// CHECK-LABEL: func.func @train.forward.0(
// CHECK-SAME: titan.param = "table"
// CHECK-SAME: <i64[batch = 2, seq = 2]> {titan.input = "tokens", titan.microbatch}
// CHECK-SAME: titan.param = "a.w"
// CHECK-SAME: -> ({{.*}}<f32[batch = 2, seq = 2]> {titan.stash = "[[X:[^"]*]]"}, {{.*}} {titan.stash = "[[RESIDUAL:[^"]*]]"})
// CHECK-SAME: kind = forward, stage = 0
// CHECK: titan.gather
// CHECK: titan.repeat <a = 1> {{.*}}{titan.stage = 0 : i64}
// CHECK: return

// The loss is in the forward fragment of the last stage, and updates its sum.
// CHECK-LABEL: func.func @train.forward.1(
// CHECK-SAME: {titan.stash = "[[X]]"}
// CHECK-SAME: titan.param = "b.w"
// CHECK-SAME: [[ARG:%[a-z0-9]+]]: !titan.tensor<f32[]> {titan.step_value = "[[LOSS]]"}
// CHECK-SAME: !titan.tensor<f32[]> {titan.updates = 2 : i64})
// CHECK: [[TERM:%[0-9]+]] = titan.reduce sum
// CHECK: titan.add [[ARG]], [[TERM]]

// CHECK-LABEL: func.func @train.backward.1(
// CHECK-SAME: -> ({{[^{]*}}{titan.stash = "[[DX:[^"]*]]"}, {{.*}} {titan.updates = 2 : i64})
// CHECK: titan.repeat <b = 1> reverse
// CHECK-LABEL: func.func @train.backward.0(
// CHECK-SAME: {titan.stash = "[[DX]]"}
// CHECK-SAME: {titan.stash = "[[RESIDUAL]]"}
// CHECK-SAME: titan.input = "tokens", titan.microbatch
// CHECK: titan.repeat <a = 1> reverse
// CHECK: titan.scatter

// Every stage updates its parameters. The norm needs the squares of all stages, so it is at level 1.
// CHECK-LABEL: func.func @train.update.0.0(
// CHECK-SAME: {titan.step_value = "[[SUM_TABLE]]"}
// CHECK-SAME: -> ({{[^{]*}}{titan.step_value = "[[SQUARES_0:[^"]*]]"}, {{.*}}titan.gradient = "table"
// CHECK-LABEL: func.func @train.update.1.0(
// CHECK-SAME: -> ({{[^{]*}}{titan.step_value = "[[FINAL_LOSS:[^"]*]]"}
// CHECK-LABEL: func.func @train.update.0.1(
// CHECK-SAME: {titan.step_value = "[[FINAL_LOSS]]"}
// CHECK-SAME: {titan.step_value = "[[SQUARES_0]]"}
// CHECK-SAME: {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"}
// CHECK: titan.sqrt
// CHECK-LABEL: func.func @train.update.1.1(
// CHECK-SAME: {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"}
// CHECK: titan.sqrt

// The program remains as a declaration.
// CHECK-LABEL: func.func private @train(
// CHECK-SAME: dist.fragments = [@train.begin.0, @train.begin.1, @train.forward.0, @train.forward.1, @train.backward.1, @train.backward.0, @train.update.0.0, @train.update.1.0, @train.update.0.1, @train.update.1.1]

  titan.scalar_function @optimizer.sgd.update {
  ^bb0(%arg0: !titan.tensor<f32[]>, %arg1: !titan.tensor<f32[]>, %arg2: !titan.tensor<f32[]>, %arg3: !titan.tensor<f32[]>):
    %value = titan.mul %arg2, %arg1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    %value_0 = titan.sub %arg0, %value : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    titan.yield %value_0 : !titan.tensor<f32[]>
  }
  func.func @train(%arg0: !titan.tensor<i64[microbatches = 2, batch = 2, seq = 2]> {titan.input = "tokens"}, %arg1: !titan.tensor<f32[vocab = 4]> {titan.init = #titan.init<normal, [1.000000e+00]>, titan.param = "table"}, %arg2: !titan.tensor<f32[a = 1]> {titan.init = #titan.init<constant, [1.000000e+00]>, titan.param = "a.w", titan.stacked}, %arg3: !titan.tensor<f32[b = 1]> {titan.init = #titan.init<constant, [1.000000e+00]>, titan.param = "b.w", titan.stacked}, %arg4: !titan.tensor<f32[]> {titan.scalar = "lr"}, %arg5: !titan.tensor<f32[]> {titan.scalar = "step"}) -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"}, !titan.tensor<f32[]> {titan.output = "local_loss", titan.unreduced}, !titan.tensor<f32[vocab = 4]> {titan.gradient = "table"}, !titan.tensor<f32[a = 1]> {titan.gradient = "a.w", titan.stacked}, !titan.tensor<f32[b = 1]> {titan.gradient = "b.w", titan.stacked}, !titan.tensor<f32[vocab = 4]> {titan.updates = 1 : i64}, !titan.tensor<f32[a = 1]> {titan.stacked, titan.updates = 2 : i64}, !titan.tensor<f32[b = 1]> {titan.stacked, titan.updates = 3 : i64}) attributes {titan.program = "train"} {
    %d_loss = titan.constant 1.000000e+00 : <f32[]>
    %loss = titan.constant 0.000000e+00 : <f32[]>
    %d_x = titan.constant 0.000000e+00 : <f32[]>
    %d_x_0 = titan.expand %d_x : <f32[]> -> <f32[b = 1]>
    %d_x_1 = titan.constant 0.000000e+00 : <f32[]>
    %d_x_2 = titan.expand %d_x_1 : <f32[]> -> <f32[a = 1]>
    %d_table = titan.constant 0.000000e+00 : <f32[]>
    %d_table_3 = titan.expand %d_table : <f32[]> -> <f32[vocab = 4]>
    %train, %train_4, %train_5, %train_6 = titan.repeat <microbatches = 2> iter_args(%loss, %d_x_0, %d_x_2, %d_table_3) scanned(%arg0) : (!titan.tensor<f32[]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[vocab = 4]>, !titan.tensor<i64[microbatches = 2, batch = 2, seq = 2]>) -> (!titan.tensor<f32[]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[vocab = 4]>) {
    ^bb0(%arg6: !titan.tensor<i64[]>, %arg7: !titan.tensor<f32[]>, %arg8: !titan.tensor<f32[b = 1]>, %arg9: !titan.tensor<f32[a = 1]>, %arg10: !titan.tensor<f32[vocab = 4]>, %arg11: !titan.tensor<i64[batch = 2, seq = 2]>):
      %x = titan.gather %arg1 along "vocab" at %arg11 : (!titan.tensor<f32[vocab = 4]>, !titan.tensor<i64[batch = 2, seq = 2]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
      %x_13, %x_14 = titan.repeat <a = 1> iter_args(%x) scanned(%arg2) {titan.stage = 0 : i64} : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[a = 1]>) -> (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[a = 1, batch = 2, seq = 2]>) {
      ^bb0(%arg12: !titan.tensor<i64[]>, %arg13: !titan.tensor<f32[batch = 2, seq = 2]>, %arg14: !titan.tensor<f32[]>):
        %x_32 = titan.mul %arg13, %arg14 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        titan.yield %x_32, %arg13 : !titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[batch = 2, seq = 2]>
      }
      %x_16, %x_17 = titan.repeat <b = 1> iter_args(%x_13) scanned(%arg3) {titan.stage = 1 : i64} : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[b = 1]>) -> (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[b = 1, batch = 2, seq = 2]>) {
      ^bb0(%arg12: !titan.tensor<i64[]>, %arg13: !titan.tensor<f32[batch = 2, seq = 2]>, %arg14: !titan.tensor<f32[]>):
        %x_32 = titan.mul %arg13, %arg14 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        titan.yield %x_32, %arg13 : !titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[batch = 2, seq = 2]>
      }
      %loss_18 = titan.reduce sum %x_16 : <f32[batch = 2, seq = 2]> -> <f32[]>
      %d_x_19 = titan.expand %d_loss : <f32[]> -> <f32[batch = 2, seq = 2]>
      %d_x_21, %d_x_22 = titan.repeat <b = 1> reverse iter_args(%d_x_19) scanned(%arg3, %x_17) {titan.stage = 1 : i64} : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[b = 1, batch = 2, seq = 2]>) -> (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[b = 1]>) {
      ^bb0(%arg12: !titan.tensor<i64[]>, %arg13: !titan.tensor<f32[batch = 2, seq = 2]>, %arg14: !titan.tensor<f32[]>, %arg15: !titan.tensor<f32[batch = 2, seq = 2]>):
        %d_x_33 = titan.mul %arg13, %arg14 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        %d_b.w = titan.mul %arg13, %arg15 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[batch = 2, seq = 2]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        %d_b.w_34 = titan.reduce sum %d_b.w : <f32[batch = 2, seq = 2]> -> <f32[]>
        titan.yield %d_x_33, %d_b.w_34 : !titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>
      }
      %d_x_24, %d_x_25 = titan.repeat <a = 1> reverse iter_args(%d_x_21) scanned(%arg2, %x_14) {titan.stage = 0 : i64} : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[a = 1, batch = 2, seq = 2]>) -> (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[a = 1]>) {
      ^bb0(%arg12: !titan.tensor<i64[]>, %arg13: !titan.tensor<f32[batch = 2, seq = 2]>, %arg14: !titan.tensor<f32[]>, %arg15: !titan.tensor<f32[batch = 2, seq = 2]>):
        %d_x_33 = titan.mul %arg13, %arg14 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        %d_a.w = titan.mul %arg13, %arg15 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[batch = 2, seq = 2]>) -> !titan.tensor<f32[batch = 2, seq = 2]>
        %d_a.w_34 = titan.reduce sum %d_a.w : <f32[batch = 2, seq = 2]> -> <f32[]>
        titan.yield %d_x_33, %d_a.w_34 : !titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<f32[]>
      }
      %d_table_27 = titan.scatter %d_x_24 along "vocab" at %arg11 : (!titan.tensor<f32[batch = 2, seq = 2]>, !titan.tensor<i64[batch = 2, seq = 2]>) -> !titan.tensor<f32[vocab = 4]>
      %loss_28 = titan.add %arg7, %loss_18 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
      %d_x_29 = titan.add %arg8, %d_x_22 : (!titan.tensor<f32[b = 1]>, !titan.tensor<f32[b = 1]>) -> !titan.tensor<f32[b = 1]>
      %d_x_30 = titan.add %arg9, %d_x_25 : (!titan.tensor<f32[a = 1]>, !titan.tensor<f32[a = 1]>) -> !titan.tensor<f32[a = 1]>
      %d_table_31 = titan.add %arg10, %d_table_27 : (!titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[vocab = 4]>) -> !titan.tensor<f32[vocab = 4]>
      titan.yield %loss_28, %d_x_29, %d_x_30, %d_table_31 : !titan.tensor<f32[]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[vocab = 4]>
    }
    %grad_norm = titan.contract %train_6, %train_6 : (!titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[vocab = 4]>) -> !titan.tensor<f32[]>
    %grad_norm_7 = titan.contract %train_5, %train_5 : (!titan.tensor<f32[a = 1]>, !titan.tensor<f32[a = 1]>) -> !titan.tensor<f32[]>
    %grad_norm_8 = titan.contract %train_4, %train_4 : (!titan.tensor<f32[b = 1]>, !titan.tensor<f32[b = 1]>) -> !titan.tensor<f32[]>
    %grad_norm_9 = titan.add %grad_norm, %grad_norm_7 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    %grad_norm_10 = titan.add %grad_norm_9, %grad_norm_8 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    %grad_norm_11 = titan.sqrt %grad_norm_10 : <f32[]> -> <f32[]>
    %new_table = titan.apply @optimizer.sgd.update(%arg1, %train_6, %arg4, %arg5) : (!titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[vocab = 4]>
    %new_a.w = titan.apply @optimizer.sgd.update(%arg2, %train_5, %arg4, %arg5) : (!titan.tensor<f32[a = 1]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[a = 1]>
    %new_b.w = titan.apply @optimizer.sgd.update(%arg3, %train_4, %arg4, %arg5) : (!titan.tensor<f32[b = 1]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[b = 1]>
    return %train, %grad_norm_11, %train, %train_6, %train_5, %train_4, %new_table, %new_a.w, %new_b.w : !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[b = 1]>, !titan.tensor<f32[vocab = 4]>, !titan.tensor<f32[a = 1]>, !titan.tensor<f32[b = 1]>
  }
