// Reads a checkpoint's manifest, which may be damaged or hostile (Manifest.h).
#include "Manifest.h"
#include "ManifestFormat.h"
#include "base/Error.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <set>
#include <sys/stat.h>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using manifest::Json;

constexpr size_t longestManifest = size_t{64} << 20;
constexpr int maxDepth = 8; // of nested values
/// The largest step or sample: counting on from it does not overflow.
constexpr uint64_t maxCount = uint64_t{1} << 62;

/// A value and its name, "files[2].bytes". Every error names it. The accessors read a value of the
/// type that they name, and throw UserError for any other.
class Field {
public:
  Field(const Json &json, std::string name) : json(json), name(std::move(name)) {}

  Field at(const char *key) const {
    if (!json.is_object() || !json.contains(key))
      fail(fmt::format("has no `{}`", key));
    return {json[key], name.empty() ? key : name + "." + key};
  }
  bool has(const char *key) const { return json.is_object() && json.contains(key); }

  uint64_t whole(uint64_t most) const {
    if (!json.is_number_unsigned() || json.get<uint64_t>() > most)
      fail(fmt::format("is {}, expected a whole number from 0 to {}", shown(), most));
    return json.get<uint64_t>();
  }

  bool truth() const {
    if (!json.is_boolean())
      fail(fmt::format("is {}, expected true or false", shown()));
    return json.get<bool>();
  }

  /// Single-line text, such as a name.
  std::string word() const {
    constexpr size_t longest = 255;
    if (!json.is_string())
      fail(fmt::format("is {}, expected a string", shown()));
    std::string text = json.get<std::string>();
    bool isPlain = std::none_of(text.begin(), text.end(),
                                [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (!isPlain || text.size() > longest)
      fail(fmt::format("is {}, expected at most {} bytes without control characters", shown(),
                       longest));
    return text;
  }

  std::vector<Field> elements() const {
    if (!json.is_array())
      fail(fmt::format("is {}, expected a list", shown()));
    std::vector<Field> all;
    for (size_t i = 0; i < json.size(); ++i)
      all.push_back({json[i], fmt::format("{}[{}]", name, i)});
    return all;
  }

  [[noreturn]] void fail(const std::string &problem) const {
    throw UserError("damaged: " +
                    (name.empty() ? "it " + problem : fmt::format("`{}` {}", name, problem)));
  }

  /// The value, truncated if it is long.
  std::string shown() const {
    constexpr size_t most = 60;
    std::string text = json.dump(-1, ' ', /*ensure_ascii=*/true);
    return text.size() <= most ? text : text.substr(0, most) + "...";
  }

private:
  const Json &json;
  std::string name;
};

/// A file name within the checkpoint's directory.
std::string readFileName(const Field &field) {
  std::string name = field.word();
  if (name.empty() || name == "." || name == ".." || fs::path(name).filename() != name)
    field.fail(fmt::format("is {}, expected the name of a file in the checkpoint", field.shown()));
  return name;
}

Manifest::Content readContent(const Field &field) {
  std::string word = field.word();
  for (Manifest::Content content : {Manifest::Content::Parameters, Manifest::Content::Optimizer})
    if (word == manifest::getName(content))
      return content;
  field.fail(fmt::format("is {}, expected \"parameters\" or \"optimizer\"", field.shown()));
}

Manifest::File readFile(const Field &field) {
  return {readFileName(field.at("name")), readContent(field.at("content")),
          static_cast<int64_t>(field.at("bytes").whole(maxCount)),
          static_cast<uint32_t>(
              field.at(manifest::checksumKey).whole(std::numeric_limits<uint32_t>::max()))};
}

std::vector<Manifest::File> readFiles(const Field &field) {
  std::vector<Manifest::File> files;
  std::set<std::string> names;
  for (const Field &element : field.elements()) {
    files.push_back(readFile(element));
    if (!names.insert(files.back().name).second)
      element.fail(fmt::format("has the same name `{}` as another entry", files.back().name));
  }
  return files;
}

/// The inputs in an entry; empty if there is no such entry.
std::vector<Identity::Input> readInputs(const Field &parent, const char *key) {
  std::vector<Identity::Input> inputs;
  if (parent.has(key))
    for (const Field &element : parent.at(key).elements())
      inputs.push_back(
          {element.at("name").word(), element.at("path").word(), element.at("digest").word()});
  return inputs;
}

Manifest readFields(const Json &json, int64_t stepOfName) {
  constexpr uint64_t any = std::numeric_limits<uint64_t>::max();
  const Field root(json, "");
  if (uint64_t written = root.at("format").whole(any); written != manifest::format)
    throw UserError(fmt::format("written in format {}, this program reads format {}", written,
                                manifest::format));
  if (root.at(manifest::checksumKey).whole(any) != manifest::computeChecksum(json))
    throw UserError("damaged: its checksum does not match");
  Manifest read;
  Field step = root.at("step");
  read.step = static_cast<int64_t>(step.whole(maxCount));
  if (stepOfName >= 0 && read.step != stepOfName)
    step.fail(fmt::format("is {}, but the folder is named step-{}", read.step, stepOfName));
  read.seed = root.at("random").at("seed").whole(any);
  read.sample = static_cast<int64_t>(root.at("data").at("sample").whole(maxCount));
  read.samplesInEpoch =
      static_cast<int64_t>(root.at("data").at("samples_in_epoch").whole(maxCount));
  read.identity = {readInputs(root.at("data"), manifest::inputsKey),
                   readInputs(root, manifest::tokenizerKey), std::nullopt};
  if (root.has(manifest::passesKey))
    read.identity.passes = readInputs(root, manifest::passesKey);
  if (root.has("run"))
    read.run = root.at("run").word();
  if (root.has("model"))
    read.model = root.at("model").word();
  if (root.has("finite"))
    read.isFinite = root.at("finite").truth();
  if (root.has("horizon"))
    read.horizon = static_cast<int64_t>(root.at("horizon").whole(maxCount));
  read.files = readFiles(root.at("files"));
  return read;
}

Json parseJson(const std::string &text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json &) {
    if (depth > maxDepth)
      throw UserError(fmt::format("damaged: it nests deeper than {} levels", maxDepth));
    return true;
  });
}

bool isAbsent(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

} // namespace

Manifest readManifest(const std::string &directory) {
  const std::string path = (fs::path(directory) / manifest::fileName).string();
  if (isAbsent(path))
    throw UserError(
        fmt::format("'{}' is not a checkpoint: it has no {}", directory, manifest::fileName));
  const std::string text = readWholeFile(path, longestManifest);
  try {
    return readFields(parseJson(text), readStep(directory));
  } catch (const Json::exception &error) {
    throw UserError(path + ": damaged: " + error.what());
  } catch (const UserError &error) {
    throw UserError(path + ": " + error.what());
  }
}

} // namespace titan::rt
