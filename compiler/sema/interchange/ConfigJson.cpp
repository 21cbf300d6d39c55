#include "compiler/sema/interchange/ConfigJson.h"

#include "base/text/JsonInfinity.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace titan::sema {

namespace {

using Json = nlohmann::json;

/// Bytes of the text for nlohmann's parser. Sets `*read` to the end of the bytes that the parser
/// has read, so that a key has a location: the parser calls key() after the closing quote.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **read) : at(at), read(read) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *read = ++at;
    return *this;
  }
  bool operator==(const CountingIterator &other) const { return at == other.at; }
  bool operator!=(const CountingIterator &other) const { return at != other.at; }

private:
  const char *at;
  const char **read;
};

/// The text of an error without its number and location, which diagnostics print themselves.
std::string getReason(const Json::exception &error) {
  std::string_view text = error.what();
  for (std::string_view begin : {"] ", "column "})
    if (size_t at = text.find(begin); at != text.npos)
      text.remove_prefix(at + begin.size());
  size_t colon = text.find(": ");
  return std::string(colon == text.npos ? text : text.substr(colon + 2));
}

/// Builds the tree from the events of the parser. A handler that returns false stops the parser.
class TreeBuilder : public nlohmann::json_sax<Json> {
public:
  TreeBuilder(FileId file, const SourceManager &sources, DiagnosticEngine &diags)
      : file(file), sources(sources), diags(diags), text(markInfinities(sources.text(file))),
        read(text.data()) {
    root.loc = sources.locate(file, 0, 1);
  }

  std::optional<ConfigValue> build() {
    CountingIterator begin(text.data(), &read), end(text.data() + text.size(), &read);
    if (!Json::sax_parse(begin, end, this))
      return std::nullopt;
    return std::move(root);
  }

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::ofBool(value)); }
  bool number_integer(int64_t value) override { return add(Value::ofInt(value)); }
  bool number_unsigned(uint64_t value) override {
    if (value > INT64_MAX)
      return refuse(Code::NumberTooLarge, "this number does not fit into 64 bits");
    return add(Value::ofInt(static_cast<int64_t>(value)));
  }
  bool number_float(double value, const std::string &) override {
    return add(Value::ofFloat(value));
  }
  bool string(std::string &value) override {
    std::optional<double> infinity = parseInfinity(getMarkedName(value));
    return add(infinity ? Value::ofFloat(*infinity) : Value::ofString(value));
  }
  bool binary(Json::binary_t &) override { return false; } // not in text

  bool key(std::string &name) override {
    ConfigValue &object = *objects.back();
    auto [member, fresh] = object.members.try_emplace(name);
    if (!fresh)
      return refuse(Code::BadConfigJson, "`" + name + "` occurs twice in one object");
    next = &member->second;
    next->loc = locateKey();
    return true;
  }

  bool start_object(size_t) override {
    if (!enter())
      return false;
    ConfigValue *object = next ? std::exchange(next, nullptr) : objects.empty() ? &root : nullptr;
    if (!object) { // an element of a list: it is read and dropped
      dropped.emplace_back();
      object = &dropped.back();
    }
    object->isObject = true;
    objects.push_back(object);
    return true;
  }
  bool end_object() override {
    ConfigValue &object = *objects.back();
    object.length = std::make_shared<ConfigValue>();
    object.length->loc = object.loc;
    object.length->value = Value::ofInt(std::ssize(object.members));
    objects.pop_back();
    --depth;
    const std::optional<double> number = getTaggedNumber(object);
    if (!dropped.empty() && &object == &dropped.back()) {
      dropped.pop_back();
      lists.back().holdsObjects |= !number;
      lists.back().elements.push_back(number ? Value::ofFloat(*number) : Value());
    } else if (number) {
      object = {.loc = object.loc, .value = Value::ofFloat(*number)};
    }
    return true;
  }
  bool start_array(size_t) override {
    if (objects.empty() && lists.empty())
      return refuse(Code::BadConfigJson, "a configuration is one object, not a list");
    if (!enter())
      return false;
    lists.push_back({std::exchange(next, nullptr), {}, false});
    return true;
  }
  bool end_array() override {
    --depth;
    List list = std::move(lists.back());
    lists.pop_back();
    if (list.owner)
      next = list.owner;
    return add(list.holdsObjects ? Value() : Value::ofList(std::move(list.elements)));
  }

  bool parse_error(size_t position, const std::string &, const Json::exception &error) override {
    size_t offset = std::min(position ? position - 1 : 0, text.size());
    diags.report(Code::BadConfigJson, sources.locate(file, offset, 1),
                 "this is not JSON: " + getReason(error));
    return false;
  }

private:
  struct List {
    ConfigValue *owner; ///< null: an element of another list
    std::vector<Value> elements;
    bool holdsObjects;
  };
  static constexpr size_t maxDepth = 32;

  /// The number of {"__float__": "Infinity"}.
  static std::optional<double> getTaggedNumber(const ConfigValue &object) {
    const auto member = object.members.find(floatTag);
    return object.members.size() == 1 && member != object.members.end()
               ? parseInfinity(member->second.value.text)
               : std::nullopt;
  }

  bool refuse(Code code, std::string message) {
    Location at = next ? next->loc : locateKey();
    diags.report(code, at, std::move(message));
    return false;
  }

  bool enter() {
    return ++depth <= maxDepth ||
           refuse(Code::BadConfigJson,
                  "this nests deeper than " + std::to_string(maxDepth) + " levels");
  }

  bool add(Value value) {
    if (next)
      std::exchange(next, nullptr)->value = std::move(value);
    else if (!lists.empty())
      lists.back().elements.push_back(std::move(value));
    else
      return refuse(Code::BadConfigJson, "a configuration is one object, not " + value.print());
    return true;
  }

  /// The string that ends where the parser is.
  Location locateKey() const {
    auto end = static_cast<size_t>(read - text.data());
    size_t quote = end > 1 ? end - 1 : 0;
    auto isEscaped = [&](size_t at) {
      size_t slashes = 0;
      while (slashes < at && text[at - 1 - slashes] == '\\')
        ++slashes;
      return slashes % 2 == 1;
    };
    do
      quote = quote ? text.rfind('"', quote - 1) : text.npos;
    while (quote != text.npos && isEscaped(quote));
    return quote == text.npos ? root.loc : sources.locate(file, quote, end - quote);
  }

  FileId file;
  const SourceManager &sources;
  DiagnosticEngine &diags;
  std::string text; ///< with the offsets of the file
  const char *read;
  ConfigValue root;
  ConfigValue *next = nullptr; ///< the member whose key was read
  std::vector<ConfigValue *> objects;
  std::vector<List> lists;
  std::deque<ConfigValue> dropped;
  size_t depth = 0;
};

} // namespace

std::optional<ConfigValue> readConfigJson(FileId file, const SourceManager &sources,
                                          DiagnosticEngine &diags) {
  return TreeBuilder(file, sources, diags).build();
}

std::optional<Json> toJson(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None:
    return Json(nullptr);
  case Value::Kind::Int:
    return Json(value.integer);
  case Value::Kind::Float:
    return std::isinf(value.real) ? Json{{floatTag, value.real < 0 ? "-Infinity" : "Infinity"}}
                                  : Json(value.real);
  case Value::Kind::Bool:
    return Json(value.boolean());
  case Value::Kind::String:
    return Json(value.text);
  case Value::Kind::List: {
    Json list = Json::array();
    for (const Value &element : value.elements)
      if (std::optional<Json> one = toJson(element))
        list.push_back(std::move(*one));
      else
        return std::nullopt;
    return list;
  }
  default:
    return std::nullopt;
  }
}

std::optional<Json> toJson(const ConfigValue &value) {
  if (!value.isObject)
    return toJson(value.value);
  Json object = Json::object();
  for (const auto &[key, member] : value.members)
    if (std::optional<Json> one = toJson(member))
      object[key] = std::move(*one);
    else
      return std::nullopt;
  return object;
}

} // namespace titan::sema
