#include "Pickle.h"

#include "base/Error.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

namespace titan::rt {

bool Pickle::Value::isCall(std::string_view global) const {
  return is(Kind::Call) && items[0]->text == global;
}

const Pickle::Value *Pickle::Value::find(std::string_view key) const {
  if (is(Kind::Dict))
    for (size_t i = 0; i < items.size(); i += 2)
      if (items[i]->is(Kind::Text) && items[i]->text == key)
        return items[i + 1];
  return nullptr;
}

const Pickle::Value *Pickle::Value::field(std::string_view key) const {
  return is(Kind::Call) && items.size() == 3 ? items[2]->find(key) : nullptr;
}

/// The stack machine of Python's pickletools.
class PickleReader {
  using Kind = Pickle::Kind;
  using Value = Pickle::Value;

public:
  PickleReader(Pickle &pickle, const std::string &name, std::span<const std::byte> bytes,
               const std::set<std::string_view> &globals)
      : pickle(pickle), name(name),
        bytes(reinterpret_cast<const char *>(bytes.data()), bytes.size()), globals(globals) {}

  void read() {
    while (!pickle.top)
      step();
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    throw UserError(fmt::format("{}: {} at byte {}", name, reason, at));
  }

  std::string_view take(uint64_t count) {
    if (count > bytes.size() - at)
      fail("the pickle ends too early");
    at += count;
    return bytes.substr(at - count, count);
  }

  uint64_t takeNumber(size_t width) {
    uint64_t number = 0;
    for (size_t i = 0; const char byte : take(width))
      number |= uint64_t{static_cast<unsigned char>(byte)} << (8 * i++);
    return number;
  }

  std::string_view takeLine() {
    const size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos)
      fail("a name without an end");
    std::string_view line = take(end - at);
    take(1);
    return line;
  }

  Value &make(Kind kind) {
    Value &value = pickle.values.emplace_back();
    value.kind = kind;
    return value;
  }

  Value &push(Kind kind) {
    Value &value = make(kind);
    stack.push_back(&value);
    return value;
  }

  void pushInteger(int64_t integer, Kind kind = Kind::Integer) { push(kind).integer = integer; }

  void pushText(size_t width) { push(Kind::Text).text = take(takeNumber(width)); }

  Value *pop() {
    if (stack.size() <= (marks.empty() ? 0 : marks.back()))
      fail("the stack is empty");
    Value *value = stack.back();
    stack.pop_back();
    return value;
  }

  /// The values since the last mark.
  std::vector<const Value *> popMark() {
    if (marks.empty())
      fail("there is no mark");
    std::vector<const Value *> items(stack.begin() + static_cast<std::ptrdiff_t>(marks.back()),
                                     stack.end());
    stack.resize(marks.back());
    marks.pop_back();
    return items;
  }

  void pushTuple(size_t count) {
    std::vector<const Value *> items(count);
    for (size_t i = count; i > 0; --i)
      items[i - 1] = pop();
    push(Kind::Tuple).items = std::move(items);
  }

  /// The value on the stack to which items are added.
  Value &getContainer(Kind kind) {
    Value *value = pop();
    if (!value->is(kind))
      fail("items of something else");
    stack.push_back(value);
    return *value;
  }

  void append(Kind kind, const std::vector<const Value *> &items) {
    if (kind == Kind::Dict && items.size() % 2 != 0)
      fail("a key without a value");
    Value &container = getContainer(kind);
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  void appendOne(Kind kind) {
    const size_t count = kind == Kind::Dict ? 2 : 1;
    std::vector<const Value *> items(count);
    for (size_t i = count; i > 0; --i)
      items[i - 1] = pop();
    append(kind, items);
  }

  void pushGlobal(std::string_view module, std::string_view member) {
    const std::string full = fmt::format("{} {}", module, member);
    const auto found = globals.find(full);
    if (found == globals.end())
      fail(fmt::format("the pickle names the function or class `{}.{}`, which no checkpoint of "
                       "tensors needs; nothing was executed",
                       module, member));
    push(Kind::Global).text = *found;
  }

  void pushNamedGlobal() {
    const Value *member = pop(), *module = pop();
    if (!member->is(Kind::Text) || !module->is(Kind::Text))
      fail("a name that is not text");
    pushGlobal(module->text, member->text);
  }

  void call() {
    const Value *arguments = pop(), *function = pop();
    if (!function->is(Kind::Global) || !arguments->is(Kind::Tuple))
      fail("a call of something else");
    push(Kind::Call).items = {function, arguments};
  }

  void setState() {
    const Value *state = pop();
    Value &object = getContainer(Kind::Call);
    if (object.items.size() != 2)
      fail("a second state");
    object.items.push_back(state);
  }

  void memoize(uint64_t index) {
    Value *value = pop();
    stack.push_back(value);
    memo[index] = value;
  }

  void recall(uint64_t index) {
    const auto found = memo.find(index);
    if (found == memo.end())
      fail("an unknown reference");
    stack.push_back(found->second);
  }

  int64_t takeLong() {
    const uint64_t width = takeNumber(1);
    if (width > 8)
      fail("an integer of more than 64 bits");
    const uint64_t number = takeNumber(width);
    const uint64_t missing = 64 - 8 * width;
    return width == 0 ? 0 : static_cast<int64_t>(number << missing) >> missing; // sign
  }

  double takeDouble() {
    uint64_t number = 0;
    for (const char byte : take(8)) // the most significant first
      number = number << 8 | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(number);
  }

  void step() {
    const auto code = static_cast<unsigned char>(take(1)[0]);
    switch (code) {
    case 0x80: // protocol
      take(1);
      return;
    case 0x95: // frame
      take(8);
      return;
    case '.':
      pickle.top = pop();
      return;
    case '(':
      return marks.push_back(stack.size());
    case 'N':
      push(Kind::None);
      return;
    case 0x88:
    case 0x89:
      return pushInteger(code == 0x88, Kind::Truth);
    case 'K':
      return pushInteger(static_cast<int64_t>(takeNumber(1)));
    case 'M':
      return pushInteger(static_cast<int64_t>(takeNumber(2)));
    case 'J':
      return pushInteger(static_cast<int32_t>(takeNumber(4)));
    case 0x8a:
      return pushInteger(takeLong());
    case 'G':
      push(Kind::Float).number = takeDouble();
      return;
    case 0x8c:
      return pushText(1);
    case 'X':
      return pushText(4);
    case 0x8d:
      return pushText(8);
    case ')':
      return pushTuple(0);
    case 0x85:
    case 0x86:
    case 0x87:
      return pushTuple(code - 0x84U);
    case 't': {
      std::vector<const Value *> items = popMark();
      push(Kind::Tuple).items = std::move(items);
      return;
    }
    case ']':
      push(Kind::List);
      return;
    case '}':
      push(Kind::Dict);
      return;
    case 'a':
      return appendOne(Kind::List);
    case 's':
      return appendOne(Kind::Dict);
    case 'e':
      return append(Kind::List, popMark());
    case 'u':
      return append(Kind::Dict, popMark());
    case 'c': {
      const std::string_view module = takeLine();
      return pushGlobal(module, takeLine());
    }
    case 0x93:
      return pushNamedGlobal();
    case 'R':
    case 0x81: // of a class
      return call();
    case 'b':
      return setState();
    case 'Q': {
      const Value *identification = pop();
      push(Kind::Persistent).items = {identification};
      return;
    }
    case 'q':
      return memoize(takeNumber(1));
    case 'r':
      return memoize(takeNumber(4));
    case 0x94:
      return memoize(memo.size());
    case 'h':
      return recall(takeNumber(1));
    case 'j':
      return recall(takeNumber(4));
    default:
      fail(fmt::format("an operation that no checkpoint needs (0x{:02x})", code));
    }
  }

  Pickle &pickle;
  const std::string &name;
  const std::string_view bytes;
  const std::set<std::string_view> &globals;
  size_t at = 0;
  std::vector<Value *> stack;
  std::vector<size_t> marks; // sizes of the stack
  std::unordered_map<uint64_t, Value *> memo;
};

Pickle::Pickle(std::string name, std::span<const std::byte> bytes,
               const std::set<std::string_view> &globals) {
  PickleReader(*this, name, bytes, globals).read();
}

} // namespace titan::rt
