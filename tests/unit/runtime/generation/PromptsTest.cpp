// Files of prompts.
#include "generation/Prompts.h"

#include "base/Error.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace titan::rt {
namespace {

class Prompts : public testing::Test {
protected:
  std::string write(const std::string &name, const std::string &text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
  /// The message of the error that reading the file causes.
  std::string catchError(const std::string &path) {
    try {
      readPrompts(path);
    } catch (const UserError &error) {
      return error.what();
    }
    return "";
  }
};

// A line is a prompt; empty lines at the end and the line ends of other systems do not count.
TEST_F(Prompts, ReadsLines) {
  EXPECT_EQ(readPrompts(write("lines.txt", "one\r\n two \nthree\n\r\n\n")),
            (std::vector<std::string>{"one", " two ", "three"}));
}

// Of JSON lines, the field `prompt` counts, which may have several lines.
TEST_F(Prompts, ReadsJsonLines) {
  EXPECT_EQ(readPrompts(
                write("some.jsonl", "{\"prompt\": \"a\\nb\"}\n\n{\"id\": 1, \"prompt\": \"c\"}\n")),
            (std::vector<std::string>{"a\nb", "c"}));
}

// Errors name the file and the line.
TEST_F(Prompts, RefusesMalformedPrompts) {
  const std::string wrong = write("wrong.jsonl", "{\"prompt\": \"a\"}\n{\"prompt\": 1}\n");
  EXPECT_EQ(catchError(wrong), wrong + ":2: expected a JSON object with the string `prompt`");
  const std::string broken = write("broken.jsonl", "{\"prompt\n");
  EXPECT_EQ(catchError(broken), broken + ":1: expected a JSON object with the string `prompt`");
  const std::string gap = write("gap.txt", "one\n\nthree\n");
  EXPECT_NE(catchError(gap).find(gap + ":2: the line is blank"), std::string::npos);
  EXPECT_NE(catchError(write("empty.txt", "\n")).find("has no prompt"), std::string::npos);
  EXPECT_NE(catchError(testing::TempDir() + "absent.txt").find("No such file"), std::string::npos);
}

} // namespace
} // namespace titan::rt
