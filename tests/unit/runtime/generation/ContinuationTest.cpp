// Stop texts in a generated continuation.
#include "generation/Continuation.h"

#include <gtest/gtest.h>

namespace titan::rt {
namespace {

/// The text that is shown after each fragment, and at the end.
std::vector<std::string> write(std::vector<std::string> stops,
                               const std::vector<std::string> &fragments,
                               Continuation *result = nullptr) {
  Continuation text(std::move(stops));
  std::vector<std::string> shown;
  for (const std::string &fragment : fragments) {
    shown.push_back(text.add(fragment));
    if (text.isStopped())
      break;
  }
  if (!text.isStopped())
    shown.push_back(text.finish());
  if (result)
    *result = text;
  return shown;
}

// Without stop texts, all is shown at once.
TEST(Continuation, ShowsFragments) {
  EXPECT_EQ(write({}, {"ab", "", "c"}), (std::vector<std::string>{"ab", "", "c", ""}));
}

// A stop text ends the continuation wherever fragments divide it, and is not shown.
TEST(Continuation, StopsBeforeAStopText) {
  Continuation text({});
  EXPECT_EQ(write({"END"}, {"one E", "N", "D two"}, &text),
            (std::vector<std::string>{"one ", "", ""}));
  EXPECT_TRUE(text.isStopped());
  EXPECT_EQ(text.text(), "one ");
}

// Text that begins like a stop text is shown as soon as it differs, or at the end.
TEST(Continuation, ShowsTextThatIsNoStopText) {
  Continuation text({});
  EXPECT_EQ(write({"END"}, {"EN", "EN", "."}, &text),
            (std::vector<std::string>{"", "EN", "EN.", ""}));
  EXPECT_EQ(write({"\n\n"}, {"a\n", "b\n"}), (std::vector<std::string>{"a", "\nb", "\n"}));
  EXPECT_FALSE(text.isStopped());
}

// Of several stop texts, the earliest counts.
TEST(Continuation, TheEarliestStopTextCounts) {
  Continuation text({});
  write({"three", "two"}, {"one two three"}, &text);
  EXPECT_EQ(text.text(), "one ");
}

} // namespace
} // namespace titan::rt
