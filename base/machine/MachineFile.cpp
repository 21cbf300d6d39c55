#include "base/machine/MachineFile.h"

#include "base/text/NearestName.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace titan {
namespace {

/// A mistake ends the reading.
struct Mistake {
  MachineMistake mistake;
};

[[noreturn]] void refuse(std::string message, TomlLocation location) {
  throw Mistake{{std::move(message), location}};
}

/// A number in a range that includes its ends.
double readNumber(const TomlValue &value, double minimum,
                  double maximum = std::numeric_limits<double>::max()) {
  if (value.kind != TomlValue::Kind::Integer && value.kind != TomlValue::Kind::Number)
    refuse("expected a number", value.location);
  const double number =
      value.kind == TomlValue::Kind::Integer ? static_cast<double>(value.integer) : value.number;
  if (!(number >= minimum && number <= maximum))
    refuse(maximum <= 1  ? "expected a number from 0 to 1"
           : minimum > 0 ? "expected a positive number"
                         : "expected a number that is not negative",
           value.location);
  return number;
}

double readPositive(const TomlValue &value) {
  return readNumber(value, std::numeric_limits<double>::min());
}

double readFraction(const TomlValue &value) {
  const double fraction = readNumber(value, 0, 1);
  if (fraction == 0)
    refuse("expected a fraction above 0", value.location);
  return fraction;
}

/// `count` positive numbers.
std::vector<double> readNumbers(const TomlValue &value, size_t count) {
  if (value.kind != TomlValue::Kind::List || value.elements.size() != count)
    refuse("expected a list of " + std::to_string(count) + " numbers", value.location);
  std::vector<double> numbers;
  for (const TomlValue &element : value.elements)
    numbers.push_back(readPositive(element));
  return numbers;
}

/// A list of lists of `count` positive numbers; `columns` names them.
std::vector<std::vector<double>> readRows(const TomlValue &value, size_t count,
                                          const std::string &columns) {
  if (value.kind != TomlValue::Kind::List)
    refuse("expected a list of kernels [" + columns + "]", value.location);
  std::vector<std::vector<double>> rows;
  for (const TomlValue &element : value.elements)
    rows.push_back(readNumbers(element, count));
  return rows;
}

std::vector<MeasuredKernel> readProducts(const TomlValue &value) {
  std::vector<MeasuredKernel> products;
  for (const auto &row : readRows(value, 5, "batch, m, n, k, seconds"))
    products.push_back(
        {row[0], row[1], row[2], row[3], 2 * row[0] * row[1] * row[2] * row[3], row[4]});
  return products;
}

std::vector<MeasuredKernel> readAttention(const TomlValue &value) {
  std::vector<MeasuredKernel> kernels;
  for (const auto &row : readRows(value, 6, "batch, queries, keys, size, operations, seconds"))
    kernels.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
  return kernels;
}

/// Bandwidth as stated, and the fraction of it that is reached.
struct Bandwidth {
  double stated = 0, efficiency = 1;
  double get() const { return stated * efficiency; }
};

struct LinkKeys {
  Link link;
  Bandwidth bandwidth;
};

/// Assigns the values of the keys to a machine.
class Reader {
public:
  Machine read(const std::vector<TomlSetting> &settings) {
    for (const TomlSetting &setting : settings)
      assign(setting);
    checkRequired();
    addLevels();
    addLinks();
    return std::move(machine);
  }

private:
  using Setter = std::function<void(const TomlValue &)>;

  void assign(const TomlSetting &setting) {
    const std::vector<TomlKey> &path = setting.path;
    std::string name;
    for (const TomlKey &key : path)
      name += (name.empty() ? "" : ".") + key.text;
    if (Setter setter = findSetter(path, name)) {
      setter(setting.value);
      seen.insert(name);
      return;
    }
    const std::string near = nearestName(name, listKeys(path));
    refuse("unknown key `" + name + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?"),
           path.back().location);
  }

  Setter findSetter(const std::vector<TomlKey> &path, const std::string &name) {
    if (auto found = keys.find(name); found != keys.end())
      return found->second;
    if (path.size() == 2 && path[0].text == "peak")
      return [this, type = path[1].text](const TomlValue &value) {
        machine.device.products[type].peak = readPositive(value);
      };
    if (path.size() == 3 && path[0].text == "products" && path[1].text == "measured")
      return [this, type = path[2].text](const TomlValue &value) {
        machine.device.products[type].measured = readProducts(value);
      };
    if (path.size() == 4 && path[0].text == "attention" && path[1].text == "measured")
      return findAttentionSetter(path[2].text, path[3].text);
    if (path.size() == 3 && path[0].text == "links")
      return findLinkSetter(path[1].text, path[2].text);
    if (path.size() == 3 && path[0].text == "caches")
      return findCacheSetter(path[1].text, path[2].text);
    return nullptr;
  }

  Setter findAttentionSetter(const std::string &pass, const std::string &type) {
    auto measured = pass == "forward"    ? &ProductRates::attentionForward
                    : pass == "backward" ? &ProductRates::attentionBackward
                                         : nullptr;
    if (!measured)
      return nullptr;
    return [this, type, measured](const TomlValue &value) {
      machine.device.products[type].*measured = readAttention(value);
    };
  }

  Setter findLinkSetter(const std::string &name, const std::string &key) {
    auto bind = [&](auto read, auto target) {
      return [this, name, read, target](const TomlValue &value) {
        links[name].link.name = name;
        target(links[name]) = read(value);
      };
    };
    auto readZero = [](const TomlValue &value) { return readNumber(value, 0); };
    auto readStolen = [](const TomlValue &value) { return readNumber(value, 0, 1); };
    auto readRanks = [](const TomlValue &value) {
      return static_cast<int64_t>(readNumber(value, 1, 1e9));
    };
    if (key == "ranks")
      return bind(readRanks, [](LinkKeys &keys) -> int64_t & { return keys.link.ranks; });
    if (key == "bandwidth")
      return bind(readPositive, [](LinkKeys &keys) -> double & { return keys.bandwidth.stated; });
    if (key == "efficiency")
      return bind(readFraction,
                  [](LinkKeys &keys) -> double & { return keys.bandwidth.efficiency; });
    if (key == "latency")
      return bind(readZero, [](LinkKeys &keys) -> double & { return keys.link.latency; });
    if (key == "stolen")
      return bind(readStolen, [](LinkKeys &keys) -> double & { return keys.link.stolen; });
    return nullptr;
  }

  Setter findCacheSetter(const std::string &name, const std::string &key) {
    double MemoryLevel::*member = key == "bytes"       ? &MemoryLevel::bytes
                                  : key == "bandwidth" ? &MemoryLevel::bandwidth
                                                       : nullptr;
    if (!member)
      return nullptr;
    return [this, name, member](const TomlValue &value) {
      caches[name].*member = readPositive(value);
    };
  }

  /// The keys that may have been meant by `path`.
  std::vector<std::string> listKeys(const std::vector<TomlKey> &path) const {
    std::vector<std::string> names;
    for (const auto &[name, setter] : keys)
      names.push_back(name);
    auto add = [&](const char *section, std::initializer_list<const char *> ofSection) {
      if (path.size() == 3 && path[0].text == section)
        for (const char *key : ofSection)
          names.push_back(path[0].text + "." + path[1].text + "." + key);
    };
    add("links", {"ranks", "bandwidth", "efficiency", "latency", "stolen"});
    add("caches", {"bytes", "bandwidth"});
    return names;
  }

  void checkRequired() {
    for (const char *name : {"name", "kind", "cores", "memory.bytes", "memory.bandwidth",
                             "loops.arithmetic", "loops.special"})
      if (!seen.count(name))
        refuse("the machine has no key `" + std::string(name) + "`", {});
    if (std::none_of(seen.begin(), seen.end(),
                     [](const std::string &name) { return name.rfind("peak.", 0) == 0; }))
      refuse("the machine has no key `peak.TYPE`", {});
    for (const auto &[type, rates] : machine.device.products)
      if (rates.peak == 0)
        refuse("measured kernels of " + type + " need `peak." + type + "`", {});
  }

  void addLevels() {
    std::vector<MemoryLevel> &levels = machine.device.levels;
    for (const auto &[name, cache] : caches) {
      if (cache.bytes == 0 || cache.bandwidth == 0)
        refuse("`caches." + name + "` needs `bytes` and `bandwidth`", {});
      levels.push_back(cache);
    }
    levels.push_back({std::numeric_limits<double>::infinity(), memory.get()});
    std::sort(levels.begin(), levels.end(),
              [](const MemoryLevel &a, const MemoryLevel &b) { return a.bytes < b.bytes; });
  }

  void addLinks() {
    for (auto &[name, keys] : links) {
      if (keys.bandwidth.stated == 0)
        refuse("`links." + name + "` needs `bandwidth`", {});
      keys.link.bandwidth = keys.bandwidth.get();
      machine.links.push_back(keys.link);
    }
    auto getReach = [](const Link &link) {
      return link.ranks ? link.ranks : std::numeric_limits<int64_t>::max();
    };
    std::sort(machine.links.begin(), machine.links.end(),
              [&](const Link &a, const Link &b) { return getReach(a) < getReach(b); });
  }

  Machine machine;
  Bandwidth memory;
  std::map<std::string, LinkKeys> links;
  std::map<std::string, MemoryLevel> caches;
  std::set<std::string> seen;

  void setKind(const TomlValue &value) {
    if (value.text != "cuda" && value.text != "cpu")
      refuse("expected \"cuda\" or \"cpu\"", value.location);
    machine.device.isCuda = value.text == "cuda";
  }
  void setName(const TomlValue &value) {
    if (value.kind != TomlValue::Kind::Text)
      refuse("expected a text", value.location);
    machine.name = value.text;
  }
  void setTile(const TomlValue &value) {
    const std::vector<double> tile = readNumbers(value, 2);
    machine.device.tileRows = tile[0];
    machine.device.tileColumns = tile[1];
  }
  Setter set(double &target, double (*read)(const TomlValue &)) {
    return [&target, read](const TomlValue &value) { target = read(value); };
  }
  static double readZeroOrMore(const TomlValue &value) { return readNumber(value, 0); }

  const std::map<std::string, Setter> keys = {
      {"name", [this](const TomlValue &value) { setName(value); }},
      {"kind", [this](const TomlValue &value) { setKind(value); }},
      {"memory.bytes", set(machine.device.memory, readPositive)},
      {"cores", set(machine.device.cores, readPositive)},
      {"launch", set(machine.device.launch, readZeroOrMore)},
      {"memory.bandwidth", set(memory.stated, readPositive)},
      {"memory.efficiency", set(memory.efficiency, readFraction)},
      {"loops.arithmetic", set(machine.device.arithmetic, readPositive)},
      {"loops.special", set(machine.device.special, readPositive)},
      {"products.efficiency", set(machine.device.productEfficiency, readFraction)},
      {"products.depth", set(machine.device.halfDepth, readZeroOrMore)},
      {"products.tile", [this](const TomlValue &value) { setTile(value); }},
      {"attention.forward", set(machine.device.attentionForward, readFraction)},
      {"attention.backward", set(machine.device.attentionBackward, readFraction)},
  };
};

} // namespace

MachineFile readMachine(std::string_view text) {
  const TomlFile toml = readToml(text);
  if (!toml.mistake.empty())
    return {std::nullopt, {toml.mistake, toml.mistakeLocation}};
  try {
    return {Reader().read(toml.settings), {}};
  } catch (const Mistake &mistake) {
    return {std::nullopt, mistake.mistake};
  }
}

} // namespace titan
