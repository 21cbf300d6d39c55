// Tokenizes a run's texts and chats before the run. If `data.path` or `eval.data.path` names texts
// (JSON, tables, Parquet, text files, folders) instead of indexed tokens, titan-prepare writes
// their tokens to a cache, and the prefix of these files replaces the path in the settings.
// titan-prepare skips tokens that are up to date, and processes that prepare the same texts wait
// for one another.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"

#include "titan/runtime/program.h"

namespace titan::rt {

/// Every rank calls prepareData before the ranks connect. `isFirst` is true on one rank of each
/// machine, which shows the reports of titan-prepare. Throws UserError if there is no tokenizer or
/// no titan-prepare, and if titan-prepare fails; it has then printed the file and the line.
void prepareData(const Program &program, const Options &options, bool isFirst, Settings &settings);

} // namespace titan::rt
