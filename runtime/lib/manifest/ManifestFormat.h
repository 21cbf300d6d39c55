// JSON names of the manifest.
#pragma once

#include "Manifest.h"

#include <cstdint>

#include <nlohmann/json.hpp>

namespace titan::rt::manifest {

using Json = nlohmann::ordered_json;

constexpr const char *fileName = "checkpoint.json";
constexpr const char *checksumKey = "crc32c";
/// Lists of what the run was trained on; checkpoints of earlier versions have none.
constexpr const char *inputsKey = "inputs", *tokenizerKey = "tokenizer", *passesKey = "passes";
constexpr int64_t format = 1;

inline const char *getName(Manifest::Content content) {
  return content == Manifest::Content::Parameters ? "parameters" : "optimizer";
}

/// Checksum of everything except the checksum itself.
uint32_t computeChecksum(Json json);

} // namespace titan::rt::manifest
