// What an expression evaluates to while a model is elaborated. Numbers, words and lists exist at
// compile time alone; a tensor is a reference to a value of the program under construction.
//
// `Error` is the result of whatever was reported already: it spreads silently, so that one mistake
// gives one message.
#ifndef TITAN_COMPILER_SEMA_VALUE_H
#define TITAN_COMPILER_SEMA_VALUE_H

#include "compiler/sema/program/Program.h"

#include <memory>

namespace titan::sema {

/// Which pairs of positions attention looks at: those that every part lets through.
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
    Word,     ///< `causal`, `f32`: a name that stands for itself
    List,     ///< also the several results of a call
    Mask,     ///< `causal and window(64)`
    Callable, ///< a function or a block, not called
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

  bool isError() const { return kind == Kind::Error; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isCallable() const { return kind == Kind::Callable; }
  /// A list of one number at least, and of nothing else.
  bool isNumberList() const;
  bool isInt() const { return kind == Kind::Int; }
  bool isNumber() const { return kind == Kind::Int || kind == Kind::Float; }
  bool isWord(std::string_view word) const { return kind == Kind::Word && text == word; }
  /// An integer or a float as a float.
  double number() const { return kind == Kind::Int ? static_cast<double>(integer) : real; }
  bool boolean() const { return integer != 0; }

  /// Whether two values of compile time are the same; `2` and `2.0` are, and so are two names of
  /// one function, but not two calls in part.
  bool operator==(const Value &other) const;

  /// With an article: "a tensor", "an integer".
  const char *describe() const;
  /// As it would be written: `6`, `0.02`, `"text"`, `(0.9, 0.95)`.
  std::string print() const;

private:
  static Value of(Kind kind) {
    Value value;
    value.kind = kind;
    return value;
  }
};

} // namespace titan::sema

#endif
