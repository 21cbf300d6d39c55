// The text that the location of a node covers.
#include "tests/unit/compiler/syntax/Support.h"

#include <gtest/gtest.h>

namespace titan::syntax {
namespace {

// Locations cover exactly the text of their node, over several lines too.
TEST(Location, CoversTheNodesText) {
  Parsed p("# a\nblock B(x) -> x {\n  let y = f(a,\n            b) + 1 # c\n}\n");
  ASSERT_EQ(p.errors(), "");
  const auto *block = p.module->decls.at(0)->as<BlockDecl>();
  ASSERT_TRUE(block);
  const auto *let = block->body.stmts.at(0)->as<LetStmt>();
  ASSERT_TRUE(let);
  EXPECT_EQ(p.sources.text(let->loc), "let y = f(a,\n            b) + 1");
  const auto *sum = let->value->as<BinaryExpr>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(p.sources.text(sum->opLoc), "+");
  EXPECT_EQ(p.sources.text(sum->lhs->loc), "f(a,\n            b)");
  EXPECT_EQ(let->loc.line, 3u);
  EXPECT_EQ(let->loc.col, 3u);
}

// Columns count bytes, so text beyond ASCII before a node shifts them by its bytes.
TEST(Location, ColumnsAreBytes) {
  Parsed p("train t = M { a = \"é\", b = 2 }\n");
  ASSERT_EQ(p.errors(), "");
  const Setting &b = p.module->decls.at(0)->as<TrainDecl>()->settings.at(1);
  EXPECT_EQ(p.sources.text(b.loc), "b = 2");
  EXPECT_EQ(b.loc.col, 25u);
}

// A setting ends with its value or block, without the separator.
TEST(Location, SettingsAndAxes) {
  Parsed p("parallel p { a = 2 splits x, else y; b = 3 }\n"
           "train t = M on p { o = adamw { lr = 1 }\n}\n");
  ASSERT_EQ(p.errors(), "");
  const auto *mesh = p.module->decls.at(0)->as<ParallelDecl>();
  EXPECT_EQ(p.sources.text(mesh->axes.at(0).loc), "a = 2 splits x, else y");
  EXPECT_EQ(p.sources.text(mesh->axes.at(1).loc), "b = 3");
  EXPECT_EQ(p.sources.text(p.module->decls.at(1)->as<TrainDecl>()->settings.at(0).loc),
            "o = adamw { lr = 1 }");
}

// Windows line ends change nothing but offsets.
TEST(Location, WindowsLineEnds) {
  Parsed p("block B(x) -> x {\r\n  let a = 1\r\n  let b = 2\r\n}\r\n");
  ASSERT_EQ(p.errors(), "");
  EXPECT_EQ(p.module->decls.at(0)->as<BlockDecl>()->body.stmts.at(1)->loc.line, 3u);
}

// cover() is the smallest range around both, in whatever order they come.
TEST(Location, Cover) {
  SourceManager sources;
  FileId file = sources.addBuffer("t", "abc\ndef\n");
  Location first = sources.locate(file, 1, 1), last = sources.locate(file, 5, 2);
  EXPECT_EQ(sources.text(sources.cover(last, first)), "bc\ndef");
  EXPECT_EQ(sources.cover(Location(), last), last);
}

// Offsets at and past the end give the location behind the last byte.
TEST(Location, EndOfBuffer) {
  SourceManager sources;
  FileId file = sources.addBuffer("t", "ab\n");
  EXPECT_EQ(sources.locate(file, 99, 5), (Location{file, 2, 1, 0}));
  EXPECT_EQ(sources.line(file, 1), "ab");
  EXPECT_EQ(sources.line(file, 2), "");
  EXPECT_EQ(sources.line(file, 7), "");
}

} // namespace
} // namespace titan::syntax
