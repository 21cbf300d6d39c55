// Reads pickles of PyTorch as data. Python's reader calls the functions that a pickle names; this
// one only records their names and arguments, and refuses every name that is not in a list. Sizes
// are those of the text: reading takes memory in proportion to it, and no recursion.
//
// Errors: UserError with the file, the byte and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titan::rt {

class Pickle {
public:
  enum class Kind : uint8_t {
    None,
    Truth,
    Integer,
    Float,
    Text,
    Tuple,
    List,
    Dict,      ///< `items`: keys and values in turn
    Global,    ///< `text`: "MODULE NAME"
    Call,      ///< `items`: a global, its arguments, and possibly a state
    Persistent ///< `items`: the identification of something outside
  };
  struct Value {
    Kind kind = Kind::None;
    int64_t integer = 0; ///< also of a truth value
    double number = 0;
    std::string_view text = {};
    std::vector<const Value *> items = {};

    bool is(Kind wanted) const { return kind == wanted; }
    /// A call of this function or class.
    bool isCall(std::string_view global) const;
    /// The value of a key of a dict; null if it has none.
    const Value *find(std::string_view key) const;
    /// The state of a call that is a dict with this key; null if there is none.
    const Value *field(std::string_view key) const;
  };

  /// `name` is that of the file, for messages. `bytes` must outlive the pickle.
  Pickle(std::string name, std::span<const std::byte> bytes,
         const std::set<std::string_view> &globals);

  const Value &root() const { return *top; }

private:
  friend class PickleReader;
  std::deque<Value> values;
  const Value *top = nullptr;
};

} // namespace titan::rt
