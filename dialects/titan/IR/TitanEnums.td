// Enumerations of the dialect.

#ifndef TITAN_TITAN_ENUMS_TD
#define TITAN_TITAN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Titan_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::titan::ir";
}

def Titan_InitKind : Titan_Enum<"InitKind", "distribution of a parameter's initial values", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Normal", 1, "normal">,
    I32EnumAttrCase<"TruncatedNormal", 2, "truncated_normal">,
    I32EnumAttrCase<"Uniform", 3, "uniform">]>;

def Titan_RandomKind : Titan_Enum<"RandomKind", "distribution of a random tensor", [
    I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Normal", 1, "normal">]>;

def Titan_ComparePredicate : Titan_Enum<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
    I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;

def Titan_MemorySpace : Titan_Enum<"MemorySpace", "the memory of a value", [
    I32EnumAttrCase<"Inline", 0, "inline">, I32EnumAttrCase<"Transient", 1, "transient">,
    I32EnumAttrCase<"Persistent", 2, "persistent">]>;

#endif // TITAN_TITAN_ENUMS_TD
