// Looks at the content of files of tokenizers, to tell them from other files.
#pragma once

#include <string_view>

namespace titan::rt {

/// Whether each line of merges.txt is a pair of tokens, after a comment.
bool isListOfMerges(std::string_view text);

/// Whether each line is a token in base64 and its number, as tiktoken stores them.
bool isListOfRanks(std::string_view text);

/// Whether the bytes are those fields of a protobuf message that a SentencePiece model has.
bool isProtobufOfModel(std::string_view bytes);

} // namespace titan::rt
