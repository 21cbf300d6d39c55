// Opens and checks the data of a run.
#pragma once

#include "settings/Settings.h"
#include "state/Executor.h"

#include "DataSource.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

/// The settings of a data set.
struct DataSettings {
  std::string path;   ///< or a mixture (base/data/DataPaths.h)
  std::string format; ///< `arrays`, or a format of openTokens
  bool packsDocuments;
  std::string overlong = "auto"; ///< packed documents longer than a sample: see docs/data.md
};

/// The settings of the data to train on, and of those to evaluate on.
DataSettings getTrainingSettings(const Settings &settings);
DataSettings getEvaluationSettings(const Settings &settings);

/// The data to train on: samples with these inputs of the program, of arrays (ArraySamples), or of
/// tokens in samples of the program's sequence length (TokenSamples, PackedSamples), in an order by
/// `seed`. Refuses tokens outside of the model's vocabulary: most when the file is opened, all
/// before use.
DataSource openTrainingData(const Program &program, const std::vector<InputSpec> &inputs,
                            const DataSettings &data, uint64_t seed);

/// An input with the weights of labels: its number among the inputs, and its type.
struct WeightsInput {
  size_t number;
  DType type;
};

/// A data set to evaluate on.
struct EvaluationSet {
  std::string name; ///< empty: the only one
  std::string path;
  DataSource data;                     ///< in the order of the file
  std::optional<WeightsInput> weights; ///< none: all labels count
};

/// The sets to evaluate on, with the inputs of this function of the program, opened and checked as
/// training data are.
std::vector<EvaluationSet> openEvaluationSets(const Program &program, const DataSettings &data,
                                              const std::string &function);

/// The labels that count in the loss, of the first `samples` samples with this many positions.
int64_t countLabels(const EvaluationSet &set, int64_t samples, int64_t positions);

/// Tells the user how a program gets one of the inputs `names`, which it lacks: by a rebuild with
/// the setting that adds the first possible one of them, or by a declaration in the model.
std::string inputRemedy(const Program &program, std::initializer_list<const char *> names);

/// Whether samples contain several documents that the model does not tell apart, although a setting
/// would add the input `documents`.
bool mixesDocuments(const Program &program, const std::vector<InputSpec> &inputs,
                    const DataSettings &data);

/// The files PREFIX.weights.bin of the data to train on, if the program has no input that reads
/// them.
std::vector<std::string> unreadWeights(const std::vector<InputSpec> &inputs,
                                       const DataSettings &data);

} // namespace titan::rt
