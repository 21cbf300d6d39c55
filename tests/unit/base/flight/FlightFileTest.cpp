// Damaged files of flight recorders.
#include "base/flight/FlightFile.h"
#include "base/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

using namespace titan;

static std::string write(const std::string &bytes) {
  const std::string path = testing::TempDir() + "rank-0.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(FlightFile, RefusesOtherFiles) {
  EXPECT_THROW(flight::readFile(write("titanflt")), UserError);
  EXPECT_THROW(flight::readFile(write(std::string(sizeof(flight::FileData), '\0'))), UserError);
  EXPECT_THROW(flight::readFile("/none"), UserError);
  EXPECT_THROW(flight::readRun(testing::TempDir() + "none"), UserError);
}

// Whatever the bytes are, no index leaves its array.
TEST(FlightFile, ReadsNoiseWithoutHarm) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::string bytes(sizeof(flight::FileData), '\0');
    for (char &c : bytes)
      c = static_cast<char>(random());
    std::memcpy(bytes.data(), "titanflt\1\0\0\0", 12);
    const flight::Record record = flight::readFile(write(bytes));
    for (const flight::Entry &entry : record.entries) {
      EXPECT_LT(entry.group, static_cast<int>(record.groups.size()));
      EXPECT_LT(entry.location.size(), 49U);
    }
  }
}
