// What a run reads, compared with what the run read that saved its checkpoint.
#pragma once

#include "manifest/Identity.h"
#include "settings/Options.h"
#include "settings/Settings.h"

#include <string>

namespace titan::rt {

/// The tokenizer of a command: that of the command line, or else of the weights; empty if there is
/// none.
std::string chooseTokenizer(const Options &options);

/// The data and the tokenizer of a run.
Identity identifyInputs(const Options &options, const Settings &settings);

/// Throws UserError if the run would go on with another tokenizer: the trained weights would lose
/// theirs. `then` is what the checkpoint records; without a record, the tokenizer in the run's
/// directory counts. A run without a tokenizer keeps that of its directory.
void expectSameTokenizer(const Identity &then, const Identity &now,
                         const std::string &runDirectory);

/// A warning if the data or what was inserted into the program has changed, or if the tokenizer's
/// configuration has; empty otherwise. Unknown records are not compared.
std::string describeOtherInputs(const Identity &then, const Identity &now);

} // namespace titan::rt
