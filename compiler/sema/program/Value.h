// The result of an expression during elaboration. Numbers, words and lists exist only at compile
// time. A tensor refers to a value of the program under construction.
//
// `Error` is the result of a reported error. It propagates silently, so one error gives one
// message.
#pragma once

#include "compiler/sema/program/Program.h"

#include <memory>

namespace titan::sema {

/// The pairs of positions that an attention mask allows: the conjunction of its terms.
struct Mask {
  bool causal = false;
  int64_t window = 0; ///< 0: none
  std::optional<ValueId> documents = std::nullopt;
};

struct Callable;

struct Value {
  enum class Kind {
    Error,
    None,
    Int,
    Float,
    Bool,
    String,
    Word,     ///< `causal`, `f32`: a symbolic constant
    List,     ///< also the results of a call with several
    Mask,     ///< `causal and window(64)`
    Callable, ///< a function or a block, not called
    Choice,   ///< one of the strings `elements`; `tensor` is the index, known when the program runs
    Tensor
  };

  Kind kind = Kind::Error;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Value> elements;
  sema::Mask mask;
  std::shared_ptr<const sema::Callable> callable;
  ValueId tensor = 0;

  static Value none() { return of(Kind::None); }
  static Value ofInt(int64_t value);
  static Value ofFloat(double value);
  static Value ofBool(bool value);
  static Value ofString(std::string text);
  static Value ofWord(std::string text);
  static Value ofList(std::vector<Value> elements);
  static Value ofMask(sema::Mask mask);
  static Value ofCallable(std::shared_ptr<const sema::Callable> callable);
  static Value ofTensor(ValueId id);
  static Value ofChoice(ValueId index, const std::vector<std::string> &words);

  bool isError() const { return kind == Kind::Error; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isCallable() const { return kind == Kind::Callable; }
  /// A non-empty list of numbers.
  bool isNumberList() const;
  bool isInt() const { return kind == Kind::Int; }
  bool isNumber() const { return kind == Kind::Int || kind == Kind::Float; }
  bool isWord(std::string_view word) const { return kind == Kind::Word && text == word; }
  /// An integer or a float, as a float.
  double number() const { return kind == Kind::Int ? static_cast<double>(integer) : real; }
  bool boolean() const { return integer != 0; }

  /// Equality of compile-time values. `2` equals `2.0`, and two names of one function are equal;
  /// two partial applications are not.
  bool operator==(const Value &other) const;

  /// With an article: "a tensor", "an integer".
  const char *describe() const;
  /// In source syntax: `6`, `0.02`, `"text"`, `(0.9, 0.95)`.
  std::string print() const;

private:
  static Value of(Kind kind) {
    Value value;
    value.kind = kind;
    return value;
  }
};

} // namespace titan::sema
