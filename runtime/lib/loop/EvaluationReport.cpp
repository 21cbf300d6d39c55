#include "EvaluationReport.h"

#include "metrics/Metrics.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

std::string number(double value, int digits) {
  return fmt::format("{:.{}g}", value, digits);
}

/// " (balance 0.01, z 0.002)"; empty without named losses.
std::string formatList(const NamedNumbers &losses, int digits) {
  std::string all;
  for (const auto &[name, value] : losses)
    all += (all.empty() ? "" : ", ") + name + " " + number(value, digits);
  return all.empty() ? "" : " (" + all + ")";
}

/// "8 of 13": not all fill a batch, or eval.batches ends the evaluation before.
std::string describeSamples(const EvaluationResult &result) {
  return result.unread == 0
             ? std::to_string(result.samples)
             : fmt::format("{} of {}", result.samples, result.samples + result.unread);
}

std::string toLine(const EvaluationResult &result, int digits) {
  const EvaluationNumbers &numbers = result.numbers;
  std::string line = "loss " + number(numbers.loss, digits) + formatList(numbers.losses, digits);
  if (numbers.perplexity)
    line += "  perplexity " + number(*numbers.perplexity, digits);
  for (const auto &[name, value] : numbers.metrics)
    line += "  " + name + " " + number(value, digits);
  return line + fmt::format("  {} samples, {} tokens in {}\n", describeSamples(result),
                            result.tokens, formatDuration(result.seconds));
}

using Row = std::vector<std::string>;

Row titles(const EvaluationNumbers &numbers) {
  Row row{"set", "loss"};
  for (const auto &[name, value] : numbers.losses)
    row.push_back("loss " + name);
  if (numbers.perplexity)
    row.push_back("perplexity");
  for (const auto &[name, value] : numbers.metrics)
    row.push_back(name);
  row.insert(row.end(), {"samples", "tokens", "time"});
  return row;
}

Row makeRow(const EvaluationResult &result, int digits) {
  const EvaluationNumbers &numbers = result.numbers;
  Row row{numbers.set, number(numbers.loss, digits)};
  for (const auto &[name, value] : numbers.losses)
    row.push_back(number(value, digits));
  if (numbers.perplexity)
    row.push_back(number(*numbers.perplexity, digits));
  for (const auto &[name, value] : numbers.metrics)
    row.push_back(number(value, digits));
  row.insert(row.end(), {describeSamples(result), std::to_string(result.tokens),
                         formatDuration(result.seconds)});
  return row;
}

/// The rows as lines with aligned columns, without blanks at their ends.
std::string aligned(const std::vector<Row> &rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i] + "\n";
  return text;
}

} // namespace

std::string toText(const std::vector<EvaluationResult> &results, int digits) {
  if (results[0].numbers.set.empty())
    return toLine(results[0], digits);
  std::vector<Row> rows{titles(results[0].numbers)};
  for (const EvaluationResult &result : results)
    rows.push_back(makeRow(result, digits));
  return aligned(rows);
}

std::string toJson(const EvaluationResult &result) {
  const EvaluationNumbers &numbers = result.numbers;
  nlohmann::ordered_json json;
  auto addAll = [&](const char *key, const NamedNumbers &all) {
    for (const auto &[name, value] : all)
      json[key][name] = value;
  };
  if (!numbers.set.empty())
    json["set"] = numbers.set;
  json["loss"] = numbers.loss;
  if (numbers.perplexity)
    json["perplexity"] = *numbers.perplexity;
  addAll("losses", numbers.losses);
  addAll("metrics", numbers.metrics);
  json["samples"] = result.samples;
  json["unread_samples"] = result.unread;
  json["tokens"] = result.tokens;
  json["seconds"] = result.seconds;
  return json.dump();
}

} // namespace titan::rt
