// Functions on lists, which exist only at compile time.
#include "compiler/sema/elaboration/CallArgs.h"

#include <algorithm>

namespace titan::sema {

namespace {

constexpr int64_t maxRange = 1 << 16;

/// A string as the list of its characters; other values as they are.
Value spelledOut(const Value &value) {
  if (value.kind != Value::Kind::String)
    return value;
  std::vector<Value> characters;
  for (char c : value.text)
    if (bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80; continues) // UTF-8
      characters.back().text += c;
    else
      characters.push_back(Value::ofString(std::string{c}));
  return Value::ofList(std::move(characters));
}

} // namespace

/// `range(n)`: the list 0, 1, ..., n - 1.
Value Builtins::range(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  if (!args[0].isInt() || args[0].integer < 1 || args[0].integer > maxRange) {
    report(Code::BadArgument, args.getLoc(0),
           "`range` takes an integer from 1 to " + std::to_string(maxRange) + ", not " +
               args[0].print());
    return {};
  }
  std::vector<Value> numbers;
  for (int64_t i = 0; i < args[0].integer; ++i)
    numbers.push_back(Value::ofInt(i));
  return Value::ofList(std::move(numbers));
}

/// `element(list, i)`: element i of a list, counted from 0.
Value Builtins::element(CallArgs &args) {
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false))
    return {};
  const Value list = spelledOut(args[0]);
  if (list.kind != Value::Kind::List) {
    report(Code::BadArgument, args.getLoc(0),
           std::string("`element` takes a list, not ") + list.describe());
    return {};
  }
  auto size = static_cast<int64_t>(list.elements.size());
  if (args[1].isInt() && args[1].integer >= 0 && args[1].integer < size)
    return list.elements[static_cast<size_t>(args[1].integer)];
  report(Code::IndexOutOfRange, args.getLoc(1),
         "the list has " + std::to_string(size) + " elements; there is no index " +
             args[1].print());
  return {};
}

/// `map(list, f)`: the list of f(e) for each element e.
Value Builtins::map(CallArgs &args) {
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false))
    return {};
  const Value list = spelledOut(args[0]);
  if (list.kind != Value::Kind::List || !args[1].isCallable()) {
    report(Code::BadArgument, args.loc(),
           std::string("`map` takes a list and a function, not ") + args[0].describe() + " and " +
               args[1].describe());
    return {};
  }
  std::vector<Value> results;
  for (const Value &element : list.elements) {
    results.push_back(elaboration.calls.callValue(args[1].callable, args.argument(0), element));
    const Value &result = results.back();
    if (result.isError())
      return {};
    if (result.isTensor() || result.isCallable()) {
      report(Code::BadArgument, args.getLoc(1),
             std::string("`map` makes a list of numbers, strings or lists, not of ") +
                 result.describe());
      return {};
    }
  }
  return Value::ofList(std::move(results));
}

/// `contains(list, x)`: whether an element equals x.
Value Builtins::contains(CallArgs &args) {
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false))
    return {};
  const Value list = spelledOut(args[0]);
  if (list.kind == Value::Kind::List && !args[1].isTensor())
    return Value::ofBool(std::ranges::count(list.elements, args[1]) != 0);
  report(Code::BadArgument, args.loc(),
         std::string("`contains` takes a list and a value of the compile time, not ") +
             args[0].describe() + " and " + args[1].describe());
  return {};
}

/// `length(list)`: the length of a list.
Value Builtins::length(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  const Value list = spelledOut(args[0]);
  if (list.kind == Value::Kind::List)
    return Value::ofInt(static_cast<int64_t>(list.elements.size()));
  report(Code::BadArgument, args.getLoc(0),
         std::string("`length` takes a list, not ") + args[0].describe());
  return {};
}

} // namespace titan::sema
