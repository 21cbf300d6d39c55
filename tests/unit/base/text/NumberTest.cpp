// Numbers in texts: their grammar, values and range.
#include "base/text/ReadNumber.h"

#include <gtest/gtest.h>

using titan::NumberText;
using titan::readNumber;
using NumberFault = NumberText::Fault;

// Accepts exactly the numbers of the language's grammar.
TEST(Number, Forms) {
  for (const char *text : {"0", "1_000", "3e-4", "3.0e-4", "0.5", "-1", "+2.5", "1E5", " 1e-4 "})
    EXPECT_TRUE(readNumber(text)) << text;
  for (const char *text : {"", " ", ".5", "3.", "3.e-4", "1_", "_1", "1__0", "0x10", "1,5", "inf",
                           "nan", "1e", "1e+", "--1", "1 2", "1e-4x", "\xd9\xa1"})
    EXPECT_EQ(readNumber(text).fault, NumberFault::NoNumber) << text;
}

TEST(Number, Values) {
  EXPECT_EQ(readNumber("1_000").integer, 1000);
  EXPECT_TRUE(readNumber("1_000").isWhole);
  EXPECT_FALSE(readNumber("1e3").isWhole);
  EXPECT_EQ(readNumber("1e3").number, 1000.0);
  EXPECT_EQ(readNumber("-0.5").number, -0.5);
  EXPECT_EQ(readNumber("007").text, "7");
  EXPECT_EQ(readNumber("-00.50e+1_0").text, "-0.50e10");
  EXPECT_EQ(readNumber("9007199254740993").integer, 9007199254740993);
  EXPECT_EQ(readNumber("4.9e-324").number, 4.9e-324);
}

// Nothing is silently rounded to 0 or infinity.
TEST(Number, Range) {
  for (const char *text : {"1e400", "9223372036854775808", "1e99999999999", "-2e308"})
    EXPECT_EQ(readNumber(text).fault, NumberFault::TooLarge) << text;
  for (const char *text : {"1e-400", "0.00001e-320", "1e-99999999999", "-1e-400"})
    EXPECT_EQ(readNumber(text).fault, NumberFault::TooSmall) << text;
  for (const char *text : {"0", "0.0", "0e400", "0e-400"})
    EXPECT_EQ(readNumber(text).number, 0) << text;
  std::string tiny = "0." + std::string(400, '0') + "1", large = "1" + std::string(400, '0');
  EXPECT_EQ(readNumber(tiny).fault, NumberFault::TooSmall);
  EXPECT_EQ(readNumber(large).fault, NumberFault::TooLarge);
  EXPECT_EQ(readNumber(large + ".5").fault, NumberFault::TooLarge);
}
