#include "MergeConfig.h"

#include "base/text/JsonInfinity.h"

#include <algorithm>
#include <string>

namespace titan::rt {

namespace {

using Json = nlohmann::ordered_json;

/// The member at a path; null if there is none.
Json *find(Json &object, const Json &path) {
  Json *found = &object;
  for (const auto &name : path) {
    const auto key = name.get<std::string>();
    if (!found->is_object() || !found->contains(key))
      return nullptr;
    found = &(*found)[key];
  }
  return found;
}

/// The object around the member at a path; null if there is none.
Json *findParent(Json &object, Json path) {
  path.erase(path.size() - 1);
  Json *parent = find(object, path);
  return parent && parent->is_object() ? parent : nullptr;
}

/// The first of alternative paths whose objects exist, or else the first. Creates its member.
Json &create(Json &object, const Json &paths) {
  const auto found = std::ranges::find_if(
      paths, [&](const Json &path) { return findParent(object, path) != nullptr; });
  Json *member = &object;
  for (const auto &name : found == paths.end() ? paths.front() : *found) {
    if (!member->is_object())
      *member = Json::object();
    member = &(*member)[name.get<std::string>()];
  }
  return *member;
}

/// `json` with `convert` applied to its members and elements, and then to itself.
Json map(Json json, Json (*convert)(Json)) {
  if (json.is_structured())
    for (Json &member : json)
      member = map(std::move(member), convert);
  return convert(std::move(json));
}

/// A marked infinite number (base/text/JsonInfinity.h) as an object, the form of a program's
/// values.
Json tagInfinity(Json json) {
  const auto *text = json.get_ptr<const std::string *>();
  const std::string_view name = text ? getMarkedName(*text) : "";
  return name.empty() ? std::move(json) : Json{{floatTag, name}};
}

/// The reverse.
Json markInfinity(Json json) {
  const bool isTag = json.is_object() && json.size() == 1 && json.contains(floatTag);
  const auto *name = isTag ? json[floatTag].get_ptr<const std::string *>() : nullptr;
  const std::string_view mark = name ? getMark(*name) : "";
  return mark.empty() ? std::move(json) : Json(mark);
}

class ConfigMerge {
public:
  explicit ConfigMerge(int64_t positions) : positions(positions) {}

  /// `isNew`: the source does not have this object, so all keys of it are written.
  void merge(Json &object, const Json &lines, bool isNew) const {
    for (const Json &line : lines)
      if (line.contains("lines"))
        mergeObject(object, line);
      else
        mergeLine(object, line, isNew);
  }

private:
  static bool mayBeAbsent(const Json &line) {
    return line["optional"].get<bool>() || line["length"].get<bool>();
  }

  /// Whether a line may be without a value; `members` are absent or null.
  static bool mayHaveNone(const Json &line, const std::vector<Json *> &members) {
    return members.empty() ? mayBeAbsent(line)
                           : line["nullable"].get<bool>() || line["length"].get<bool>();
  }

  bool agrees(const Json &line, const Json &value) const {
    const bool isLonger =
        line["length"].get<bool>() && value.is_number() && value.get<double>() >= double(positions);
    return isLonger || value == line["value"] || map(value, tagInfinity) == line["value"];
  }

  /// The members of a line's alternative keys.
  static std::vector<Json *> findMembers(Json &object, const Json &line) {
    std::vector<Json *> members;
    for (const Json &path : line["keys"])
      if (Json *member = find(object, path))
        members.push_back(member);
    return members;
  }

  static bool isNull(const Json *member) { return member->is_null(); }

  void mergeLine(Json &object, const Json &line, bool isNew) const {
    const bool isNone = line["value"].is_null() && mayBeAbsent(line); // a key of another kind
    if (isNone)
      return removeValues(object, line);
    const std::vector<Json *> members = findMembers(object, line);
    for (Json *member : members)
      if (!member->is_null() && !agrees(line, *member))
        *member = line["value"];
    const bool hasValue = !std::ranges::all_of(members, isNull);
    if (hasValue || (!isNew && mayHaveNone(line, members)))
      return;
    (members.empty() ? create(object, line["keys"]) : *members.front()) = line["value"];
  }

  static void removeValues(Json &object, const Json &line) {
    for (const Json &path : line["keys"])
      if (const Json *member = find(object, path); member && !member->is_null())
        findParent(object, path)->erase(path.back().get<std::string>());
  }

  /// Whether an object of the source gives the values of its lines.
  bool agreesWith(Json &object, const Json &lines) const {
    return std::ranges::all_of(lines, [&](const Json &line) {
      if (line.contains("lines"))
        return true;
      const std::vector<Json *> members = findMembers(object, line);
      return (!std::ranges::all_of(members, isNull) || mayHaveNone(line, members)) &&
             std::ranges::all_of(members, [&](const Json *member) {
               return member->is_null() || agrees(line, *member);
             });
    });
  }

  static bool isAbsent(Json &object, const Json &line) {
    const Json *member = line.contains("absentKey") ? find(object, line["absentKey"]) : nullptr;
    return member && *member == line["absentValue"];
  }

  void mergeObject(Json &object, const Json &line) const {
    Json *present = nullptr, *absent = nullptr; // `absent`: an object that says so
    for (Json *member : findMembers(object, line))
      if (Json *&known = member->is_object() && isAbsent(*member, line) ? absent : present;
          member->is_object() && !known)
        known = member;
    if (line["written"].get<bool>())
      merge(present  ? *present
            : absent ? *absent
                     : create(object, line["keys"]),
            line["lines"], /*isNew=*/!present);
    else if (present && !agreesWith(*present, line["lines"]))
      reset(*present, line);
  }

  /// Removes the keys of an `optional` that has its defaults in the program, or else gives them.
  void reset(Json &object, const Json &line) const {
    if (!line.contains("absentKey"))
      return merge(object, line["lines"], /*isNew=*/false);
    for (const Json &inner : line["lines"])
      removeValues(object, inner);
    if (object.empty())
      object = nullptr;
    else
      create(object, Json::array({line["absentKey"]})) = line["absentValue"];
  }

  int64_t positions;
};

} // namespace

Json mergeConfig(Json source, const Json &lines, int64_t positions) {
  const bool isMarked = map(source, tagInfinity) != source;
  ConfigMerge(positions).merge(source, lines, /*isNew=*/false);
  return isMarked ? map(std::move(source), markInfinity) : source;
}

} // namespace titan::rt
