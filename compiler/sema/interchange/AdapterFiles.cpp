#include "compiler/sema/interchange/AdapterFiles.h"
#include "compiler/sema/interchange/ConfigJson.h"
#include "compiler/sema/interchange/Names.h"
#include "compiler/sema/program/Callable.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

/// The declaration of the kind for the adapter, in the adapter's file; null if there is none.
template <typename DeclT>
const DeclT *findDeclaration(const Symbol &adapter, const Library &library,
                             const std::string &(*getFormat)(const DeclT &),
                             const Path *(*getSubject)(const DeclT &)) {
  for (const DeclPtr &decl : adapter.unit->module->decls) {
    auto *found = decl->as<DeclT>();
    const Path *subject = found ? getSubject(*found) : nullptr;
    if (subject && getFormat(*found) == adapterFormat &&
        library.lookup(*adapter.unit, *subject).decl == adapter.decl)
      return found;
  }
  return nullptr;
}

const WeightsDecl *findAdapterWeights(const Symbol &adapter, const Library &library) {
  return findDeclaration<WeightsDecl>(
      adapter, library,
      [](const WeightsDecl &decl) -> const std::string & { return decl.format.text; },
      [](const WeightsDecl &decl) { return &decl.model; });
}

const ConfigDecl *findAdapterConfig(const Symbol &adapter, const Library &library) {
  return findDeclaration<ConfigDecl>(
      adapter, library,
      [](const ConfigDecl &decl) -> const std::string & { return decl.name.text; },
      [](const ConfigDecl &decl) { return decl.model ? &*decl.model : nullptr; });
}

/// A factor of a dimension: its size, and its stride in indices of a stored dimension. A stride of
/// 0 means that each index has its own tensor.
struct MatrixFactor {
  int64_t size, stride;
};

/// The adapted parameter as a stored matrix, or as matrices that their names number.
struct AdaptedMatrix {
  enum Role { Inputs, Outputs };
  std::map<DimId, std::vector<MatrixFactor>> factors;
  int64_t sizes[2]; ///< of the stored dimension of a role
};

/// Reads the factors of the parameter's dimensions, which follow one another in `stored`.
class AdaptedMatrixReader {
public:
  AdaptedMatrixReader(const Model &model, const StoredParameter &stored)
      : model(model), stored(stored), columns(stored.shape.back()) {}

  /// Nothing if inputs and outputs do not make up the two stored dimensions.
  std::optional<AdaptedMatrix> read(const Adapter &adapter, const DimSet &dims) {
    auto isAmong = [](const std::vector<size_t> &positions, size_t d) {
      return std::find(positions.begin(), positions.end(), d) != positions.end();
    };
    for (size_t d = 0; d < dims.size(); ++d) {
      std::optional<AdaptedMatrix::Role> role;
      if (isAmong(adapter.inputs, d))
        role = AdaptedMatrix::Inputs;
      else if (isAmong(adapter.outputs, d))
        role = AdaptedMatrix::Outputs;
      if (!readDim(dims[d], role))
        return std::nullopt;
    }
    const bool isWhole =
        next == stored.sizes.size() && elements == stored.shape[0] * columns && stored.start == 0;
    if (!isWhole || rows[AdaptedMatrix::Inputs] == rows[AdaptedMatrix::Outputs])
      return std::nullopt;
    for (AdaptedMatrix::Role role : {AdaptedMatrix::Inputs, AdaptedMatrix::Outputs})
      matrix.sizes[role] = *rows[role] ? stored.shape[0] : columns;
    return std::move(matrix);
  }

private:
  bool readDim(DimId dim, std::optional<AdaptedMatrix::Role> role) {
    std::vector<MatrixFactor> &factors = matrix.factors[dim];
    for (int64_t count = 1; factors.empty() || count < model.dims[dim].size; ++next) {
      if (next == stored.sizes.size())
        return false;
      const int64_t size = stored.sizes[next], stride = stored.strides[next];
      count *= size;
      if ((stride == 0) == role.has_value())
        return false;
      if (role && size > 1) {
        const bool isRow = stride >= columns;
        if (rows[*role].value_or(isRow) != isRow)
          return false;
        rows[*role] = isRow;
        elements *= size;
      }
      factors.push_back({size, stride >= columns ? stride / columns : stride});
    }
    return true;
  }

  const Model &model;
  const StoredParameter &stored;
  int64_t columns;
  size_t next = 0;
  int64_t elements = 1;
  std::optional<bool> rows[2]; ///< whether a role has the first stored dimension
  AdaptedMatrix matrix;
};

/// The tensors of an adapter's parameters. A stored dimension is that of a role of the matrix, or
/// an own dimension of the parameter.
class AdapterTensors {
public:
  AdapterTensors(const Model &model, const Parameter &adapted, const AdaptedMatrix &matrix)
      : model(model), adapted(adapted), matrix(matrix) {}

  /// The parameter of the entry in the tensor that the entry names. Nothing if the brackets do not
  /// give the two stored dimensions.
  std::optional<StoredParameter> locate(const WeightsDecl::Entry &entry,
                                        const std::string &module) const {
    const std::string name = adapted.name + "." + entry.parameter.text();
    const auto parameter = std::find_if(model.parameters.begin(), model.parameters.end(),
                                        [&](const Parameter &each) { return each.name == name; });
    if (parameter == model.parameters.end() || !entry.dims || entry.dims->size() != 2)
      return std::nullopt;
    StoredParameter stored{name, insertModule(entry.tensor.text, module), {}, 0, {}, {}};
    std::vector<std::string> dims;
    for (const WeightsDecl::Dim &dim : *entry.dims) {
      dims.push_back(dim.factors.front().dim.text());
      stored.shape.push_back(getSize(dims.back(), parameter->type.dims));
    }
    for (DimId dim : parameter->type.dims) {
      const bool isOwn = !matrix.factors.count(dim);
      const size_t at = (isOwn ? model.dims[dim].name == dims[0] : isRole(dims[0])) ? 0 : 1;
      for (const MatrixFactor &factor : getFactors(dim)) {
        stored.sizes.push_back(factor.size);
        stored.strides.push_back(factor.stride * (at == 0 ? stored.shape[1] : 1));
      }
    }
    return stored;
  }

private:
  static std::string insertModule(std::string text, const std::string &module) {
    const std::string mark = "{module}";
    if (const size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, mark.size(), module);
    return text;
  }

  static bool isRole(const std::string &name) { return name == "inputs" || name == "outputs"; }

  /// 0 for an unknown name.
  int64_t getSize(const std::string &name, const DimSet &dims) const {
    if (isRole(name))
      return matrix.sizes[name == "inputs" ? AdaptedMatrix::Inputs : AdaptedMatrix::Outputs];
    for (DimId dim : dims)
      if (model.dims[dim].name == name)
        return model.dims[dim].size;
    return 0;
  }

  std::vector<MatrixFactor> getFactors(DimId dim) const {
    const auto shared = matrix.factors.find(dim);
    return shared != matrix.factors.end() ? shared->second
                                          : std::vector<MatrixFactor>{{model.dims[dim].size, 1}};
  }

  const Model &model;
  const Parameter &adapted;
  const AdaptedMatrix &matrix;
};

const StoredParameter *findStored(const WeightMap &map, const std::string &name) {
  const auto found =
      std::find_if(map.parameters.begin(), map.parameters.end(),
                   [&](const StoredParameter &each) { return each.parameter == name; });
  return found == map.parameters.end() ? nullptr : &*found;
}

/// The name of a module, whose matrix is the tensor.
std::string getModule(const std::string &tensor) {
  const std::string end = ".weight";
  return tensor.ends_with(end) ? tensor.substr(0, tensor.size() - end.size()) : tensor;
}

/// Whether the key says what acts in training alone: `lora_dropout = rate`.
bool readsTrainingAlone(const ConfigEntry &key, const ConfigDecl &decl) {
  const std::vector<Name> read = namesIn(*key.value);
  auto isOfTraining = [&](const Name &name) {
    return std::ranges::any_of(decl.entries, [&](const ConfigEntry &entry) {
      return entry.kind == ConfigEntry::Kind::Training &&
             std::ranges::any_of(entry.keys,
                                 [&](const Path &path) { return path.text() == name.text; });
    });
  };
  return !read.empty() && std::ranges::all_of(read, isOfTraining);
}

/// The arguments of the adapter by their names, with defaults.
std::map<std::string, Value> getArguments(const Callable &callable, const Library &library,
                                          DiagnosticEngine &diags) {
  std::map<std::string, Value> values;
  for (const Formal &formal : *getFormals(*callable.callee.symbol.decl)) {
    for (const Actual &actual : callable.boundArgs)
      if (actual.isKeyword(formal.name.text) && actual.value)
        values[formal.name.text] = *actual.value;
    if (formal.defaultValue && !values.count(formal.name.text))
      values[formal.name.text] =
          evalConstant(*formal.defaultValue, values, library, *callable.callee.symbol.unit, diags);
  }
  return values;
}

} // namespace

void addAdapterTensors(const Adapters &adapters, const Model &model, const Library &library,
                       WeightMap &map) {
  for (const Parameter &parameter : model.parameters) {
    const auto adapter = adapters.find(parameter.name);
    const StoredParameter *stored = findStored(map, parameter.name);
    if (adapter == adapters.end() || !stored || stored->shape.size() != 2)
      continue;
    const WeightsDecl *decl = findAdapterWeights(adapter->second.callable->callee.symbol, library);
    const std::optional<AdaptedMatrix> matrix =
        AdaptedMatrixReader(model, *stored).read(adapter->second, parameter.type.dims);
    if (!decl || !matrix)
      continue;
    const std::string module = getModule(stored->tensor);
    for (const WeightsDecl::Entry &entry : decl->entries)
      if (std::optional<StoredParameter> located =
              AdapterTensors(model, parameter, *matrix).locate(entry, module))
        map.parameters.push_back(std::move(*located));
  }
}

std::string addAdapterConfigs(std::string config, const Adapters &adapters, const WeightMap &map,
                              const Library &library, DiagnosticEngine &diags) {
  auto all = nlohmann::ordered_json::object();
  std::set<std::string> trainingKeys;
  for (const auto &[name, adapter] : adapters) {
    const Callable &callable = *adapter.callable;
    const ConfigDecl *decl = findAdapterConfig(callable.callee.symbol, library);
    const bool hasTensors = std::any_of(map.parameters.begin(), map.parameters.end(),
                                        [prefix = name + "."](const StoredParameter &each) {
                                          return each.parameter.starts_with(prefix);
                                        });
    if (!decl || !hasTensors)
      continue;
    auto &own = all[name] = nlohmann::ordered_json::object();
    const auto arguments = getArguments(callable, library, diags);
    for (const ConfigEntry &entry : decl->entries) {
      if (entry.kind == ConfigEntry::Kind::Training)
        continue;
      if (readsTrainingAlone(entry, *decl))
        trainingKeys.insert(entry.keys.front().text());
      const Value value =
          evalConstant(*entry.value, arguments, library, *callable.callee.symbol.unit, diags);
      if (const auto json = toJson(value))
        own[entry.keys.front().text()] = *json;
    }
  }
  if (all.empty())
    return config;
  auto whole = nlohmann::ordered_json::parse(config);
  whole["adapters"] = std::move(all);
  whole["adapter_training"] = trainingKeys;
  return whole.dump();
}

bool isOfAdapter(const Decl &decl, const Unit &unit, const Library &library) {
  const auto *weights = decl.as<WeightsDecl>();
  const auto *config = decl.as<ConfigDecl>();
  const Path *subject = weights                   ? &weights->model
                        : config && config->model ? &*config->model
                                                  : nullptr;
  const std::string *format = weights  ? &weights->format.text
                              : config ? &config->name.text
                                       : nullptr;
  if (!subject || *format != adapterFormat)
    return false;
  const Symbol found = library.lookup(unit, *subject);
  return found && (found.decl->is<BlockDecl>() || found.decl->is<FnDecl>());
}

} // namespace titan::sema
