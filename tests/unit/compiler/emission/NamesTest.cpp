// User text as identifiers, string literals and comments of emitted C++.

#include "compiler/emission/Names.h"

#include <gmock/gmock.h>

using namespace titan::emission;

// User identifiers end with an underscore, and C++ does not reserve them: they contain no two
// adjacent underscores and no leading one.
TEST(Names, UserIdentifiers) {
  EXPECT_EQ(makeIdentifier("x"), "x_");
  EXPECT_EQ(makeIdentifier("layers.wq"), "layers_wq_");
  EXPECT_EQ(makeIdentifier("NULL"), "NULL_");
  EXPECT_EQ(makeIdentifier("while"), "while_");
  EXPECT_EQ(makeIdentifier("__linux_"), "linux_"); // `__linux__` is a macro
  EXPECT_EQ(makeIdentifier("_Pragma"), "Pragma_");
  EXPECT_EQ(makeIdentifier("a__b"), "a_b_");
  EXPECT_EQ(makeIdentifier("3d"), "n3d_");
  EXPECT_EQ(makeIdentifier(""), "n_");
  EXPECT_EQ(makeIdentifier("x;}\n#define y"), "x_define_y_");
  EXPECT_EQ(makeIdentifier("größe"), "gr_e_");
}

TEST(Names, ScopesPickFreeNames) {
  NameScope scope;
  EXPECT_EQ(scope.pick("x"), "x_");
  EXPECT_EQ(scope.pick("x"), "x_1_");
  EXPECT_EQ(scope.pick("x_"), "x_2_");
  EXPECT_EQ(scope.pick("x_1"), "x_1_1_");
  EXPECT_EQ(scope.pick("x_at"), "x_at_");
}

TEST(Names, StringLiterals) {
  EXPECT_EQ(quote("a b"), "\"a b\"");
  EXPECT_EQ(quote("\r\n\t\"\\"), "\"\\015\\n\\t\\\"\\\\\"");
  EXPECT_EQ(quote("\x01"
                  "7"),
            "\"\\0017\"");
  EXPECT_EQ(quote(llvm::StringRef("\0x", 2)), "\"\\000x\"");
  EXPECT_EQ(quote("\x7f\xff\xc3\xa4"), "\"\\177\\377\\303\\244\"");
  EXPECT_EQ(quote("what?"
                  "?/"),
            "\"what?\\?/\""); // a trigraph
}

TEST(Names, CommentsAreOneLine) {
  EXPECT_EQ(comment("main.titan:3"), "// main.titan:3");
  EXPECT_EQ(comment("a\nb\r\v\\"), "// a?b???");
  EXPECT_EQ(comment("\xe2\x80\xae"), "// ???"); // right-to-left override
}
