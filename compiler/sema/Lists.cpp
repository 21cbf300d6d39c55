// Lists at compile time: arithmetic and functions work on those of numbers element by element.
#include "compiler/sema/CallArgs.h"

namespace titan::sema {

namespace {

constexpr int64_t longestRange = 1 << 16;

} // namespace

Value Elaborator::mapped(const Value &list, const std::function<Value(const Value &)> &each) {
  std::vector<Value> results;
  for (const Value &element : list.elements) {
    results.push_back(each(element));
    if (results.back().isError()) // the others would say the same
      return {};
  }
  return Value::ofList(std::move(results));
}

std::optional<Value> Elaborator::zipped(const Value &lhs, const Value &rhs, Location at,
                                        const Combine &each) {
  if (lhs.isNumberList() && rhs.isNumber())
    return mapped(lhs, [&](const Value &element) { return each(element, rhs); });
  if (lhs.isNumber() && rhs.isNumberList())
    return mapped(rhs, [&](const Value &element) { return each(lhs, element); });
  if (!lhs.isNumberList() || !rhs.isNumberList())
    return std::nullopt;
  if (lhs.elements.size() != rhs.elements.size()) {
    report(Code::BadOperands, at,
           "lists combine element by element, but these have " +
               std::to_string(lhs.elements.size()) + " and " + std::to_string(rhs.elements.size()));
    return Value();
  }
  size_t next = 0;
  return mapped(lhs, [&](const Value &element) { return each(element, rhs.elements[next++]); });
}

/// `range(n)`: the list 0, 1, ..., n - 1.
Value Elaborator::builtinRange(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  if (!args[0].isInt() || args[0].integer < 1 || args[0].integer > longestRange) {
    report(Code::BadArgument, args.locOf(0),
           "`range` takes an integer from 1 to " + std::to_string(longestRange) + ", not " +
               args[0].print());
    return {};
  }
  std::vector<Value> numbers;
  for (int64_t i = 0; i < args[0].integer; ++i)
    numbers.push_back(Value::ofInt(i));
  return Value::ofList(std::move(numbers));
}

/// `element(list, i)`: one value of a list, counted from 0.
Value Elaborator::builtinElement(CallArgs &args) {
  if (!args.expect(2, 2, false, false))
    return {};
  if (args[0].kind != Value::Kind::List) {
    report(Code::BadArgument, args.locOf(0),
           std::string("`element` takes a list, not ") + args[0].describe());
    return {};
  }
  auto size = static_cast<int64_t>(args[0].elements.size());
  if (args[1].isInt() && args[1].integer >= 0 && args[1].integer < size)
    return args[0].elements[static_cast<size_t>(args[1].integer)];
  report(Code::IndexOutOfRange, args.locOf(1),
         "the list has " + std::to_string(size) + " elements, counted from 0; none is number " +
             args[1].print());
  return {};
}

/// `length(list)`: how many values a list has.
Value Elaborator::builtinLength(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  if (args[0].kind == Value::Kind::List)
    return Value::ofInt(static_cast<int64_t>(args[0].elements.size()));
  report(Code::BadArgument, args.locOf(0),
         std::string("`length` takes a list, not ") + args[0].describe());
  return {};
}

} // namespace titan::sema
