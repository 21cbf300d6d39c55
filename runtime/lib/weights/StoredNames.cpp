#include "StoredNames.h"

#include "base/text/Glob.h"

#include <algorithm>
#include <map>
#include <optional>

namespace titan::rt {

std::string useWords(const std::string &name, const std::set<std::string> &mapped) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {{".gamma", ".weight"},
                                                                     {".beta", ".bias"}};
  for (const auto &[older, word] : words)
    if (name.ends_with(older) &&
        std::ranges::none_of(mapped, [&](const auto &each) { return each.ends_with(older); }))
      return name.substr(0, name.size() - older.size()).append(word);
  return name;
}

namespace {

class RenamingFinder {
public:
  RenamingFinder(const WeightStore &store, std::string prefix, const std::set<std::string> &mapped,
                 const WeightMap &map)
      : prefix(std::move(prefix)) {
    for (const std::string &stored : store.names())
      if (const std::string name = this->prefix + useWords(stored, mapped);
          !isNeedless(map, this->prefix + stored) && !isNeedless(map, name))
        (mapped.count(name) ? known : others).insert(name);
    for (const std::string &name : mapped)
      if (const size_t dot = name.find('.', this->prefix.size());
          name.starts_with(this->prefix) && dot != std::string::npos)
        expected[name.substr(0, dot + 1)].push_back(name.substr(dot + 1));
  }

  std::vector<Renaming> run() const {
    std::vector<Renaming> renamings;
    for (const auto &[mapped, rests] : expected)
      if (count(known, mapped, rests) == 0)
        if (const std::optional<std::string> stored = choose(mapped, rests))
          renamings.push_back({mapped, *stored});
    return renamings;
  }

private:
  /// Whether the map has the name already: of a copy, or of a tensor that the model does not need.
  static bool isNeedless(const WeightMap &map, const std::string &name) {
    return std::ranges::any_of(map.unused,
                               [&](const auto &pattern) { return matchesGlob(pattern, name); }) ||
           std::ranges::any_of(map.copies, [&](const auto &copy) { return copy.first == name; });
  }

  static int64_t count(const std::set<std::string> &names, const std::string &begin,
                       const std::vector<std::string> &rests) {
    return std::count_if(rests.begin(), rests.end(),
                         [&](const std::string &rest) { return names.count(begin + rest) != 0; });
  }

  /// The beginning with most names of the mapped. Among several, the one that ends with the mapped.
  std::optional<std::string> choose(const std::string &mapped,
                                    const std::vector<std::string> &rests) const {
    std::set<std::string> begins;
    for (const std::string &name : others)
      if (name.ends_with(rests.front())) {
        std::string begin = name.substr(0, name.size() - rests.front().size());
        if (begin == prefix || begin.ends_with('.'))
          begins.insert(std::move(begin));
      }
    std::vector<std::string> best;
    int64_t most = 0;
    for (const std::string &begin : begins) {
      const int64_t found = count(others, begin, rests);
      if (found > most)
        best.clear();
      if (found >= std::max<int64_t>(most, 1))
        best.push_back(begin);
      most = std::max(most, found);
    }
    if (best.size() > 1)
      std::erase_if(best, [&](const std::string &begin) {
        return !begin.ends_with("." + mapped.substr(prefix.size()));
      });
    return best.size() == 1 ? std::optional(best.front()) : std::nullopt;
  }

  std::string prefix;
  std::set<std::string> known, others; ///< names that the map has, and that it does not have
  std::map<std::string, std::vector<std::string>> expected; ///< rests by first mapped
};

} // namespace

std::vector<Renaming> findRenamings(const WeightStore &store, const std::string &prefix,
                                    const std::set<std::string> &mapped, const WeightMap &map) {
  return RenamingFinder(store, prefix, mapped, map).run();
}

std::string rename(const std::string &name, const std::vector<Renaming> &renamings) {
  const Renaming *longest = nullptr;
  for (const Renaming &each : renamings)
    if (name.starts_with(each.stored) && (!longest || each.stored.size() > longest->stored.size()))
      longest = &each;
  return longest ? longest->mapped + name.substr(longest->stored.size()) : name;
}

} // namespace titan::rt
