// What all ranks of a run must have alike, as named values: program, settings, options, data,
// transport. Every rank publishes its record before the first group is made (comm/Agreement.h), and
// a difference ends the run by naming the field, the ranks and their values. Plain data.
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
  /// Of this rank alone, and not compared: its process, and the address that others reach it at.
  std::string process, address;
  /// What keeps this rank from starting at all; other fields mean nothing then.
  std::string mistake;

  void add(std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
  }
};

/// As text for the store: a line for each value, with the rank.
std::string encodeRecord(int rank, const RankRecord &record);

struct ReceivedRecord {
  int rank;
  RankRecord record;
};
/// Nothing where the text is no record, or one of another version of the format: anybody may have
/// written it.
std::optional<ReceivedRecord> decodeRecord(const std::string &text);

/// "optimizer.lr: 0.001 on rank 0, 0.1 on rank 1; ...": the fields in which records differ, most
/// of them; empty where they do not.
std::string describeDifferences(const std::map<int, RankRecord> &records);

} // namespace titan::rt
