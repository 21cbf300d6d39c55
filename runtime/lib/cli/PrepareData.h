// The data of a run that are texts, prepared before the run: each path of `data.path` and
// `eval.data.path` that names texts (JSON lines, Parquet, text files, folders) instead of indexed
// tokens is replaced by the prefix of the tokens that titan-prepare makes of it, in a cache.
// titan-prepare itself knows whether they are up to date, and processes that prepare the same texts
// wait for one another.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"

#include "titan/runtime/program.h"

namespace titan::rt {

/// Every rank calls it before the ranks connect; `isFirst` on one of each machine, which shows what
/// titan-prepare reports. Throws UserError if there is no tokenizer or no titan-prepare, and if
/// titan-prepare fails, after it has named the file and the line.
void prepareData(const Program &program, const Options &options, bool isFirst, Settings &settings);

} // namespace titan::rt
