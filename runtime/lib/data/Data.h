// Opens and checks the data of a run.
#pragma once

#include "settings/Settings.h"
#include "state/Executor.h"

#include "DataSource.h"

#include <string>
#include <vector>

namespace titan::rt {

/// The settings of a data set.
struct DataSettings {
  std::string path;   ///< or a mixture (base/data/Mixture.h)
  std::string format; ///< `arrays`, or a format of openTokens
  bool packsDocuments;
};

DataSettings trainingData(const Settings &settings);
DataSettings evaluationData(const Settings &settings);

/// Samples with these inputs of the program: of arrays (ArraySamples), or of tokens in samples of
/// the program's sequence length (TokenSamples, PackedSamples). Refuses tokens outside of the
/// model's vocabulary: most when the file is opened, all before use. `shuffle` false keeps the file
/// order and refuses mixtures.
DataSource openData(const Program &program, const std::vector<InputSpec> &inputs,
                    const DataSettings &data, uint64_t seed, bool shuffle);

/// The files of weights of these data that no input reads.
std::vector<std::string> unreadWeights(const std::vector<InputSpec> &inputs,
                                       const DataSettings &data);

} // namespace titan::rt
