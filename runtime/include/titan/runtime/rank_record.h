// Values that must be equal on all ranks of a run: program, settings, options, data, transport.
// Every rank publishes its record before the first group exists (comm/Agreement.h). A difference
// ends the run and names the field, the ranks and their values. Plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

struct RankRecord {
  struct Field {
    std::string name, value;
  };
  std::vector<Field> fields;
  /// Not compared: the process of this rank, and the address at which others reach it.
  std::string process, address;
  /// An error that prevents this rank from starting; other fields are then undefined.
  std::string mistake;

  void add(std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
  }
};

/// Text for the store: one line per value, with the rank.
std::string encodeRecord(int rank, const RankRecord &record);

struct ReceivedRecord {
  int rank;
  RankRecord record;
};
/// Empty for any other text, or another version of the format: anybody may have written it.
std::optional<ReceivedRecord> decodeRecord(const std::string &text);

/// "optimizer.lr: 0.001 on rank 0, 0.1 on rank 1; ...": the differing fields, up to a limit; empty
/// if there are none.
std::string describeDifferences(const std::map<int, RankRecord> &records);

} // namespace titan::rt
