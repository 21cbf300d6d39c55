// Writes pickles, of protocol 2, that name only what their caller says: the counterpart of
// Pickle.h. Each function appends what makes one value; operands of `call`, `object` and the ends
// of containers are the values before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace titan::rt {

class PickleWriter {
public:
  PickleWriter();

  void none() { text += 'N'; }
  void truth(bool value) { text += value ? '\x88' : '\x89'; }
  void integer(int64_t value);
  void string(std::string_view value);
  /// A function, class or constant of a module.
  void global(std::string_view module, std::string_view name);
  void tuple(std::span<const int64_t> values);

  void emptyList() { text += ']'; }
  void emptyDict() { text += '}'; }
  void emptyTuple() { text += ')'; }
  /// Begins a tuple, or the elements that `append` or `setItems` adds to the container before it.
  void mark() { text += '('; }
  void endTuple() { text += 't'; }
  void append() { text += 'e'; }
  void setItems() { text += 'u'; }

  /// Calls the global with the tuple before it.
  void call() { text += 'R'; }
  /// An object of the class before it, without arguments.
  void object() { text += ")\x81"; }
  /// Gives the object its state.
  void build() { text += 'b'; }
  /// The object that the value before it identifies.
  void persistent() { text += 'Q'; }

  /// The complete pickle.
  std::string finish() &&;

private:
  void appendBytes(uint64_t number, size_t width);

  std::string text;
};

} // namespace titan::rt
