// Named values that all ranks of a run must have in common: program, settings, options, data,
// transport. Each rank publishes its record before the first group is made (comm/Agreement.h). A
// difference ends the run with the field, the ranks and their values. Plain data.
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
  /// Not compared: this rank's process, and the address at which others reach it.
  std::string process, address;
  /// An error that keeps this rank from starting; the other fields are meaningless then.
  std::string mistake;

  void add(std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
  }
};

/// Encodes a record for the store: one line per value, and the rank.
std::string encodeRecord(int rank, const RankRecord &record);

/// A record that a rank has published.
struct ReceivedRecord {
  int rank;
  RankRecord record;
};
/// Empty if the text is not a record of this format's version; the text is untrusted.
std::optional<ReceivedRecord> decodeRecord(const std::string &text);

/// "optimizer.lr: 0.001 on rank 0, 0.1 on rank 1; ...": most of the fields in which records differ;
/// empty if there are none.
std::string describeDifferences(const std::map<int, RankRecord> &records);

} // namespace titan::rt
