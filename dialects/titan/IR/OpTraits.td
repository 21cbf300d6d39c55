// Properties of kinds of operations.

#ifndef TITAN_OP_TRAITS_TD
#define TITAN_OP_TRAITS_TD

include "mlir/IR/OpBase.td"

class Titan_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::titan::ir";
}

/// Applies one scalar function to every element of the joint index space of its operands. All results
/// have the same dimensions. ScalarOpInterface is required: it has the formula with which the operation is
/// interpreted, fused and emitted.
def Titan_Elementwise : Titan_Trait<"Elementwise">;

/// Elementwise; an operand is broadcast along the dimensions that only other operands have.
def Titan_Broadcasting : Titan_Trait<"Broadcasting">;

/// Elementwise, but a second evaluation costs more than to write and read the result.
def Titan_Expensive : Titan_Trait<"Expensive">;

/// The result has the elements of operand 0 in the same order, and shares its allocation.
def Titan_View : Titan_Trait<"View">;

/// The backward pass computes the result again instead of storing it. Elementwise operations and views
/// are rematerialisable without this trait.
def Titan_Rematerialisable : Titan_Trait<"Rematerialisable">;

/// Every element of the result is an element of an operand, its negation, or 0: nothing is rounded.
def Titan_Exact : Titan_Trait<"Exact">;

/// A row of the result can be computed from rows of operands. Elementwise operations are row-fusable
/// without this trait.
def Titan_RowFusable : Titan_Trait<"RowFusable">;

/// Element i of the result depends only on element i of operand 0, which the result may overwrite.
/// Results of elementwise operations may overwrite operands without this trait.
def Titan_InPlace : Titan_Trait<"InPlace">;

#endif // TITAN_OP_TRAITS_TD
