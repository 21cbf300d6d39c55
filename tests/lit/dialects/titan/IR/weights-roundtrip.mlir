// RUN: titan-opt %s | titan-opt | FileCheck %s

// CHECK: module attributes {titan.weights = #titan.weight_map<"hf", [#titan.stored_parameter<"layers.w", "h.{0+1}.e.{1}.w", shape = [4, 6], start = 0, sizes = [3, 6, 4], strides = [0, 1, 6]>, #titan.stored_parameter<"scalar", "s", shape = [], start = 0, sizes = [], strides = []>], copies = {b = "a"}, unused = ["c*"]>}
module attributes {titan.weights = #titan.weight_map<"hf", [
    #titan.stored_parameter<"layers.w", "h.{0+1}.e.{1}.w", shape = [4, 6], start = 0, sizes = [3, 6, 4], strides = [0, 1, 6]>,
    #titan.stored_parameter<"scalar", "s", shape = [], start = 0, sizes = [], strides = []>],
    copies = {b = "a"}, unused = ["c*"]>} {}
