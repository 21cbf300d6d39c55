// Processes that answer lines, as tokenizers do.
#include "launch/HelperProcess.h"

#include "base/Error.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace titan::rt {
namespace {

/// The message of the fault that `body` causes.
template <typename Body> std::string catchFault(Body body) {
  try {
    body();
  } catch (const Fault &fault) {
    return fault.what();
  }
  return "";
}

// Lines go there and back; a helper may write a line by itself.
TEST(HelperProcess, AnswersLines) {
  HelperProcess helper({"sh", "-c", "echo ready; while read line; do echo \"<$line>\"; done"});
  EXPECT_EQ(helper.read(), "ready");
  EXPECT_EQ(helper.ask("one"), "<one>");
  const std::string large(200'000, 'x'); // more than a pipe holds
  EXPECT_EQ(helper.ask(large), "<" + large + ">");
}

// A helper that has ended is an error, not a wait.
TEST(HelperProcess, ReportsTheEndOfTheHelper) {
  HelperProcess helper({"sh", "-c", "read line; echo answer"});
  EXPECT_EQ(helper.ask("one"), "answer");
  EXPECT_NE(catchFault([&] { helper.ask("two"); }).find("sh"), std::string::npos);
}

// A program that does not exist is the user's error.
TEST(HelperProcess, ReportsAMissingProgram) {
  EXPECT_THROW(HelperProcess({"/no/such/program"}), UserError);
  EXPECT_THROW(findTool("no-such-tool", "NO_SUCH_VARIABLE"), UserError);
}

// The environment names a tool, and PATH its folder.
TEST(HelperProcess, FindsTools) {
  EXPECT_EQ(findTool("sh", "NO_SUCH_VARIABLE").substr(0, 1), "/");
  setenv("TITAN_TEST_TOOL", "/elsewhere/sh", 1);
  EXPECT_EQ(findTool("sh", "TITAN_TEST_TOOL"), "/elsewhere/sh");
  unsetenv("TITAN_TEST_TOOL");
}

} // namespace
} // namespace titan::rt
