// Names, patterns and divisors that messages suggest.
#include "compiler/sema/modules/Suggest.h"

#include <gtest/gtest.h>

namespace titan::sema {
namespace {

// One letter more, less, another, or two swapped: the name that was meant is found.
TEST(SuggestTest, FindsTheNearestName) {
  std::vector<std::string> names = {"heads", "head", "vocab", "embed"};
  EXPECT_EQ(nearestName("vocba", names), "vocab");
  EXPECT_EQ(nearestName("hads", names), "heads");
  EXPECT_EQ(nearestName("embedd", names), "embed");
}

// A name that is nothing like the candidates gets no suggestion, and a letter never suggests
// another.
TEST(SuggestTest, SuggestsNothingFarFetched) {
  EXPECT_EQ(nearestName("vocab", {"layers", "seq"}), "");
  EXPECT_EQ(nearestName("N", {"M"}), "");
  EXPECT_EQ(nearestName("", {"M"}), ""); // what is no name at all
}

// Absurdly long names are not compared, so that no input can make the compiler slow.
TEST(SuggestTest, IgnoresLongNames) {
  EXPECT_EQ(nearestName(std::string(100000, 'a'), {std::string(100001, 'a')}), "");
}

// Divisors come in order, a square's root once, and a long list is cut.
TEST(SuggestTest, ListsDivisors) {
  EXPECT_EQ(listDivisors(16), "1, 2, 4, 8, 16");
  EXPECT_EQ(listDivisors(1), "1");
  EXPECT_EQ(listDivisors(12, 3), "1, 2, 3, ...");
}

// Patterns match whole names.
TEST(SuggestTest, MatchesPatterns) {
  EXPECT_TRUE(matchesGlob("*norm", "layers.attn_norm"));
  EXPECT_TRUE(matchesGlob("*norm", "norm"));
  EXPECT_FALSE(matchesGlob("*norm", "norm_bias"));
  EXPECT_TRUE(matchesGlob("*.b?", "layers.b1"));
  EXPECT_FALSE(matchesGlob("*.b?", "layers.b"));
  EXPECT_TRUE(matchesGlob("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matchesGlob("", "x"));
  EXPECT_TRUE(matchesGlob("*.w[qv]", "layers.wv"));
  EXPECT_FALSE(matchesGlob("*.w[qv]", "layers.wk"));
  EXPECT_TRUE(matchesGlob("[ab]*[z]", "bz"));
  EXPECT_FALSE(matchesGlob("[ab]", ""));
  EXPECT_TRUE(matchesGlob("[ab", "[ab"));
}

} // namespace
} // namespace titan::sema
