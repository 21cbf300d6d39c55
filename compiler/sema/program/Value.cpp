#include "compiler/sema/program/Value.h"
#include "compiler/sema/program/Callable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace titan::sema {

Value Value::ofInt(int64_t integer) {
  Value value = of(Kind::Int);
  value.integer = integer;
  return value;
}

Value Value::ofFloat(double real) {
  Value value = of(Kind::Float);
  value.real = real;
  return value;
}

Value Value::ofBool(bool isTrue) {
  Value value = of(Kind::Bool);
  value.integer = isTrue;
  return value;
}

Value Value::ofString(std::string text) {
  Value value = of(Kind::String);
  value.text = std::move(text);
  return value;
}

Value Value::ofWord(std::string text) {
  Value value = of(Kind::Word);
  value.text = std::move(text);
  return value;
}

Value Value::ofList(std::vector<Value> elements) {
  Value value = of(Kind::List);
  value.elements = std::move(elements);
  return value;
}

Value Value::ofMask(sema::Mask mask) {
  Value value = of(Kind::Mask);
  value.mask = mask;
  return value;
}

Value Value::ofCallable(std::shared_ptr<const sema::Callable> callable) {
  Value value = of(Kind::Callable);
  value.callable = std::move(callable);
  return value;
}

Value Value::ofTensor(ValueId id) {
  Value value = of(Kind::Tensor);
  value.tensor = id;
  return value;
}

Value Value::ofChoice(ValueId index, const std::vector<std::string> &words) {
  Value value = of(Kind::Choice);
  value.tensor = index;
  for (const std::string &word : words)
    value.elements.push_back(ofString(word));
  return value;
}

bool Value::isNumberList() const {
  return kind == Kind::List && !elements.empty() &&
         std::all_of(elements.begin(), elements.end(),
                     [](const Value &element) { return element.isNumber(); });
}

const char *Value::describe() const {
  switch (kind) {
  case Kind::Error:
    break;
  case Kind::None:
    return "`none`";
  case Kind::Int:
    return "an integer";
  case Kind::Float:
    return "a number";
  case Kind::Bool:
    return "a boolean";
  case Kind::String:
    return "a string";
  case Kind::Word:
    return "a word";
  case Kind::List:
    return "a list";
  case Kind::Mask:
    return "a mask";
  case Kind::Callable:
    return callable->callee.isBlock()   ? "a block"
           : callable->callee.isModel() ? "a model"
                                        : "a function";
  case Kind::Choice:
    return "a word that is chosen at launch";
  case Kind::Tensor:
    return "a tensor";
  }
  return "something wrong";
}

bool Value::operator==(const Value &other) const {
  if (isNumber() && other.isNumber())
    return number() == other.number();
  if (kind == Kind::List && other.kind == Kind::List)
    return elements == other.elements; // -0 is 0, and digits beyond those printed count
  if (isCallable() && other.isCallable()) {
    const Callee &a = callable->callee, &b = other.callable->callee;
    bool areNames = callable->boundArgs.empty() && other.callable->boundArgs.empty();
    return callable == other.callable ||
           (areNames && a.symbol.decl == b.symbol.decl && a.builtin == b.builtin);
  }
  return kind == other.kind && print() == other.print();
}

std::string Value::print() const {
  char digits[32];
  switch (kind) {
  case Kind::Int:
    return std::to_string(integer);
  case Kind::Float:
    if (std::isinf(real))
      return real < 0 ? "-infinity" : "infinity";
    std::snprintf(digits, sizeof digits, "%.12g", real);
    return digits;
  case Kind::Bool:
    return integer ? "true" : "false";
  case Kind::String:
    return '"' + text + '"';
  case Kind::Word:
    return text;
  case Kind::List: {
    std::string all;
    for (const Value &element : elements)
      all += (all.empty() ? "(" : ", ") + element.print();
    return all.empty() ? "()" : all + ")";
  }
  case Kind::None:
    return "none";
  case Kind::Callable:
    return callable->callee.name() + (callable->boundArgs.empty() ? "" : "(...)");
  case Kind::Mask:
  case Kind::Choice:
  case Kind::Tensor:
  case Kind::Error:
    break;
  }
  return describe();
}

} // namespace titan::sema
