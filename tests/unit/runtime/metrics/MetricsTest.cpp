// Rows of metrics.jsonl, status.json, and lines on the console.
#include "metrics/Metrics.h"

#include "metrics/PublishedPeak.h"
#include "metrics/StatusFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace titan;
using namespace titan::rt;

namespace {

std::string readContent(const std::string &path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Metrics : public testing::Test {
protected:
  Metrics() {
    directory =
        std::filesystem::temp_directory_path() / ("titan-metrics-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
  }
  ~Metrics() override { std::filesystem::remove_all(directory); }
  std::string path(const char *name) const { return (directory / name).string(); }
  std::filesystem::path directory;
};

MetricsRow row(int64_t step) {
  return {step, 1.0 / 3, 0.5, 8e-4, step * 2048, 8000, 0.25, 1 << 20, 1.5};
}

// A row has all promised fields, with 9 digits in float32 programs and 17 in float64 ones.
TEST_F(Metrics, RowsAsJson) {
  EXPECT_EQ(toJson(row(2), 9),
            R"({"step": 2, "loss": 0.333333333, "grad_norm": 0.5, "lr": 0.0008, "tokens": 4096, )"
            R"("tokens_per_second": 8000, "tflops": 0.25, "memory_bytes": 1048576, "time": 1.5})");
  EXPECT_NE(toJson(row(2), 17).find("0.33333333333333331"), std::string::npos);
  MetricsRow bad = row(1);
  bad.loss = NAN;
  EXPECT_NE(toJson(bad, 9).find(R"("loss": null)"), std::string::npos);
  MetricsRow fast = row(1);
  fast.mfu = 41.25;
  EXPECT_NE(toJson(fast, 9).find(R"("tflops": 0.25, "mfu": 41.25, )"), std::string::npos);
  fast.maxLoss = 0.5;
  EXPECT_NE(toJson(fast, 9).find(R"("loss": 0.333333333, "max_loss": 0.5, )"), std::string::npos);
}

// Named losses follow the total loss, those of an evaluation follow its loss.
TEST_F(Metrics, LossesWithNames) {
  MetricsRow several = row(1);
  several.losses = {{"balance", 1.0 / 3}, {"z", NAN}};
  several.evaluations = {{"", 2, {{"balance", 0.25}, {"z", 1}}}};
  std::string text = toJson(several, 9);
  EXPECT_NE(text.find(R"("loss": 0.333333333, "losses": {"balance": 0.333333333, "z": null}, )"
                      R"("grad_norm")"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("eval_loss": 2, "eval_losses": {"balance": 0.25, "z": 1}})"),
            std::string::npos)
      << text;
}

// Sets with names have an object each, in place of the keys of the only set.
TEST_F(Metrics, EvaluationSetsWithNames) {
  MetricsRow named = row(1);
  named.metrics = {{"accuracy", 0.75}};
  named.evaluations = {{"web", 2, {}, {{"accuracy", 0.25}}, 7.5}, {"code", 3, {{"z", 1}}}};
  std::string text = toJson(named, 9);
  EXPECT_NE(text.find(R"("loss": 0.333333333, "metrics": {"accuracy": 0.75}, "grad_norm")"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("eval_sets": {"web": {"loss": 2, "metrics": {"accuracy": 0.25}, )"
                      R"("perplexity": 7.5}, "code": {"loss": 3, "losses": {"z": 1}}}})"),
            std::string::npos)
      << text;
}

// Norms of turns follow the norm of the step.
TEST_F(Metrics, NormsOfTurns) {
  MetricsRow turns = row(1);
  turns.gradNorm = 5;
  turns.gradNorms = {{"critic", 3}, {"generator", 4}};
  EXPECT_NE(
      toJson(turns, 9).find(R"("grad_norm": 5, "grad_norms": {"critic": 3, "generator": 4}, "lr")"),
      std::string::npos);
}

// Peaks are those of data sheets: for full devices only, not for slices or other variants, and for
// bf16 only.
TEST(PublishedPeak, KnowsPublishedPeaks) {
  EXPECT_EQ(publishedPeakTflops("NVIDIA A100-SXM4-80GB", "bf16"), 312);
  EXPECT_EQ(publishedPeakTflops("NVIDIA H100 80GB HBM3", "bf16"), 989);
  EXPECT_EQ(publishedPeakTflops("NVIDIA H100 NVL", "bf16"), 835);
  EXPECT_EQ(publishedPeakTflops("NVIDIA H100 PCIe", "bf16"), 756);
  EXPECT_EQ(publishedPeakTflops("NVIDIA H200", "bf16"), 989);
  EXPECT_EQ(publishedPeakTflops("NVIDIA B200", "bf16"), 2250);
  for (const char *other : {"", "a processor", "NVIDIA H200 NVL", "NVIDIA GB200", "NVIDIA H100",
                            "NVIDIA A100-SXM4-40GB MIG 3g.20gb"})
    EXPECT_FALSE(publishedPeakTflops(other, "bf16")) << other;
  for (const char *type : {"f32", "f64", ""})
    EXPECT_FALSE(publishedPeakTflops("NVIDIA H200", type)) << type;
}

// A new file starts empty; a resumed one keeps rows up to the checkpoint and no truncated line.
TEST_F(Metrics, ResumingTruncates) {
  {
    MetricsFile file(path("m.jsonl"), 9);
    for (int64_t step : {1, 2, 3})
      file.append(row(step));
  }
  std::ofstream(path("m.jsonl"), std::ios::app) << R"({"step": 4, "lo)";
  {
    MetricsFile file(path("m.jsonl"), 9, 2);
    file.append(row(3));
  }
  EXPECT_EQ(readContent(path("m.jsonl")),
            toJson(row(1), 9) + "\n" + toJson(row(2), 9) + "\n" + toJson(row(3), 9) + "\n");
  {
    MetricsFile file(path("m.jsonl"), 9);
  }
  EXPECT_EQ(readContent(path("m.jsonl")), "");
}

// The status describes the run and its process, without partial files.
TEST_F(Metrics, Status) {
  StatusFile status(path("status.json"), 20);
  ASSERT_TRUE(status.write({"stopped", 7, 75, "by \"SIGTERM\""}));
  std::string text = readContent(path("status.json"));
  for (const char *phrase : {R"("state": "stopped")", R"("step": 7)", R"("exit_status": 75)",
                             R"("message": "by \"SIGTERM\"")", R"("steps": 20)", R"("host": ")"})
    EXPECT_NE(text.find(phrase), std::string::npos) << text;
  EXPECT_NE(text.find("\"pid\": " + std::to_string(getpid())), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(path("status.json.partial")));
  EXPECT_EQ(describeUnended(path("status.json")), "");
}

// A live process updates its status; the next run reports a process that was killed.
TEST_F(Metrics, StatusBeats) {
  StatusFile status(path("status.json"), 20, std::chrono::milliseconds(5));
  ASSERT_TRUE(status.write({}));
  status.noteStep(9);
  auto isTold = [&] { return readContent(path("status.json")).find("\"step\": 9,"); };
  for (int i = 0; i < 1000 && isTold() == std::string::npos; ++i)
    usleep(5000);
  EXPECT_NE(isTold(), std::string::npos);
  const std::string description = describeUnended(path("status.json"));
  EXPECT_TRUE(description.starts_with("after step 9 (process " + std::to_string(getpid()) + " on "))
      << description;
  std::ofstream(path("damaged.json")) << "{\"state\": \"running\""; // without a heartbeat
  EXPECT_EQ(describeUnended(path("damaged.json")), "");
}

// A signal handler writes the last status, as valid JSON for any message; no heartbeat follows.
TEST_F(Metrics, StatusOfACrash) {
  StatusFile status(path("status.json"), 20, std::chrono::milliseconds(1));
  status.write({.step = 3});
  SafeText message;
  message << "SIGBUS ('a\"b\n\\\xc3\xa4')";
  status.writeFromHandler(135, message);
  usleep(20000);
  const std::string text = readContent(path("status.json"));
  for (const char *phrase : {R"("state": "failed")", R"("step": 3)", R"("exit_status": 135)",
                             "\"message\": \"SIGBUS ('a\\\"b?\\\\?\?')\""})
    EXPECT_NE(text.find(phrase), std::string::npos) << text;
}

// On a full disk, the status overwrites the old one.
TEST_F(Metrics, StatusOnAFullDisk) {
  StatusFile status(path("status.json"), 20);
  ASSERT_TRUE(status.write({"running", 3, 0, std::string(200, 'x')}));
  std::filesystem::create_directories(path("status.json.partial/in the way"));
  ASSERT_TRUE(status.write({"failed", 4, 70, "no room"}));
  const std::string text = readContent(path("status.json"));
  EXPECT_NE(text.find("no room"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("}\n")) << text;
}

TEST(SafeText, Numbers) {
  SafeText text;
  text << 0 << " " << -7 << " " << INT64_MIN << " " << INT64_MAX;
  EXPECT_STREQ(text.text(), "0 -7 -9223372036854775808 9223372036854775807");
  for (int i = 0; i < 1000; ++i)
    text << "1234567890";
  EXPECT_EQ(text.size(), std::strlen(text.text()));
}

// Console output: aligned steps, short units, colours only on request.
TEST_F(Metrics, Lines) {
  EXPECT_EQ(
      toLine(row(2), 200, 187, false),
      "step   2/200  loss 0.3333  grad norm 0.500  lr 8.00e-04  8000 tok/s  1 MiB  left 3:07");
  EXPECT_NE(toLine(row(2), 200, 187, true).find("\x1b["), std::string::npos);
  MetricsRow fast = row(2);
  fast.mfu = 41.25;
  EXPECT_NE(toLine(fast, 200, 187, false).find("8000 tok/s  mfu 41.2 %  1 MiB"), std::string::npos);
  EXPECT_EQ(formatDuration(59.6), "1:00");
  EXPECT_EQ(formatDuration(3600 * 26 + 61), "1 d 2:01:01");
  EXPECT_EQ(formatDuration(INFINITY), "?");
  EXPECT_EQ(formatBytes(int64_t{3} << 29), "1.5 GiB");
  EXPECT_GT(peakMemoryBytes(), 1 << 20);
}

} // namespace
