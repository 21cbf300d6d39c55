// Opens and checks the data of a run.
#pragma once

#include "settings/Settings.h"
#include "state/Executor.h"

#include "DataSource.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace titan::rt {

/// The settings of a data set.
struct DataSettings {
  std::string path;   ///< or a mixture (base/data/DataPaths.h)
  std::string format; ///< `arrays`, or a format of openTokens
  bool packsDocuments;
};

DataSettings trainingData(const Settings &settings);
DataSettings evaluationData(const Settings &settings);

/// The data to train on: samples with these inputs of the program, of arrays (ArraySamples), or of
/// tokens in samples of the program's sequence length (TokenSamples, PackedSamples), in an order by
/// `seed`. Refuses tokens outside of the model's vocabulary: most when the file is opened, all
/// before use.
DataSource openTrainingData(const Program &program, const std::vector<InputSpec> &inputs,
                            const DataSettings &data, uint64_t seed);

struct EvaluationSet {
  std::string name; ///< empty: the only one
  std::string path;
  DataSource data; ///< in the order of the file
};

/// The sets to evaluate on, with the inputs of `@eval`, opened and checked likewise.
std::vector<EvaluationSet> openEvaluationSets(const Program &program, const DataSettings &data);

/// How a program gets an input that it lacks: it is rebuilt with a setting that its model has, or
/// its model declares the input and uses it in the loss. The same setting may add
/// any of the inputs `names`; the best is first.
std::string inputRemedy(const Program &program, std::initializer_list<const char *> names);

/// The files of weights of the data to train on that no input reads.
std::vector<std::string> unreadWeights(const std::vector<InputSpec> &inputs,
                                       const DataSettings &data);

} // namespace titan::rt
