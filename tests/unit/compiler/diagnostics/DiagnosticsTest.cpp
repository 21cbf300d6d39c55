// Diagnostics as text and as JSON, and the table of their codes.
#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace titan {
namespace {

struct Diagnostics : testing::Test {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  FileId file = sources.addBuffer("m.titan", "let é = heds\n\tlet b = heads\n");

  std::string text(ColorMode colors = ColorMode::Never) const {
    std::ostringstream os;
    diags.print(os, colors);
    return os.str();
  }
};

// clang's form: location, severity, message, code; the line; caret and tildes; notes; help.
TEST_F(Diagnostics, Text) {
  diags.report(Code::ExpectedSyntax, sources.locate(file, 9, 4), "no `heds` here")
      .note(sources.locate(file, 23, 5), "`heads` is here")
      .note("three others are hidden")
      .fix(sources.locate(file, 9, 4), "heads");
  EXPECT_EQ(text(), "m.titan:1:10: error: no `heds` here [T0101]\n"
                    "let é = heds\n"
                    "        ^~~~\n"
                    "m.titan:2:10: note: `heads` is here\n"
                    "\tlet b = heads\n"
                    "\t        ^~~~~\n"
                    "note: three others are hidden\n"
                    "help: write `heads` instead of `heds`\n");
}

// A fix-it says what to do: insert, remove; words of the author's come first.
TEST_F(Diagnostics, FixItsInWords) {
  Location none = sources.locate(file, 0, 0);
  diags.report(Code::ExpectedSyntax, none, "a").fix(none, ")");
  diags.report(Code::ExpectedSyntax, none, "b").fix(sources.locate(file, 0, 3), "");
  diags.report(Code::ExpectedSyntax, none, "c").fix(none, "x").help("do this");
  std::string all = text();
  EXPECT_NE(all.find("help: insert `)`\n"), std::string::npos) << all;
  EXPECT_NE(all.find("help: remove `let`\n"), std::string::npos) << all;
  EXPECT_NE(all.find("help: do this\n"), std::string::npos) << all;
}

// Without a location there is no line and no caret.
TEST_F(Diagnostics, NoLocation) {
  diags.report(Code::ExpectedSyntax, Location(), "nothing to do");
  EXPECT_EQ(text(), "titan: error: nothing to do [T0101]\n");
}

// Colours are off unless asked for, or on a terminal.
TEST_F(Diagnostics, Colors) {
  diags.report(Code::ExpectedSyntax, sources.locate(file, 0, 3), "a");
  EXPECT_EQ(text(ColorMode::Auto).find('\x1b'), std::string::npos);
  EXPECT_NE(text(ColorMode::Always).find("\x1b[1;31merror"), std::string::npos);
}

// A long line is shown around the caret only.
TEST_F(Diagnostics, LongLine) {
  FileId wide = sources.addBuffer("w", std::string(10'000'000, 'x'));
  diags.report(Code::ExpectedSyntax, sources.locate(wide, 5'000'000, 2), "a");
  std::istringstream lines(text());
  std::string head, line, caret;
  std::getline(lines, head);
  std::getline(lines, line);
  std::getline(lines, caret);
  EXPECT_LT(line.size(), 110u); // a row of a terminal
  EXPECT_EQ(line.substr(0, 3), "...");
  EXPECT_EQ(caret.find("^~"), caret.size() - 2);
}

// Invalid UTF-8, control characters and marks of text direction are not printed.
TEST_F(Diagnostics, NothingButHarmlessText) {
  FileId evil = sources.addBuffer("v\x1b", "\xff\xfe \xc2\x9b \xe2\x80\xae \xc3\xa9 end");
  diags.report(Code::ExpectedSyntax, sources.locate(evil, 13, 3), "\xff here");
  EXPECT_EQ(text(), "v?:1:14: error: ? here [T0101]\n"
                    "?? ? ? \xc3\xa9 end\n"
                    "         ^~~\n");
}

// Terminal control characters in a source cannot reach the terminal.
TEST_F(Diagnostics, ControlCharacters) {
  FileId evil = sources.addBuffer("v", "a \x1b[2J b");
  diags.report(Code::ExpectedSyntax, sources.locate(evil, 0, 1), "a");
  EXPECT_EQ(text().find('\x1b'), std::string::npos);
}

// JSON: one object a line, with everything the text has; malformed text stays valid JSON.
TEST_F(Diagnostics, Json) {
  diags.report(Code::ExpectedSyntax, sources.locate(file, 9, 4), "no \"heds\" \xff")
      .note(sources.locate(file, 0, 3), "here")
      .fix(sources.locate(file, 9, 4), "heads");
  diags.report(Code::UnclosedBracket, Location(), "b");
  std::ostringstream os;
  diags.printJson(os);
  std::istringstream lines(os.str());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
  ASSERT_TRUE(bool(value));
  const llvm::json::Object &first = *value->getAsObject();
  EXPECT_EQ(first.getString("code"), "T0101");
  EXPECT_EQ(first.getString("severity"), "error");
  EXPECT_EQ(first.getString("file"), "m.titan");
  EXPECT_EQ(first.getInteger("line"), 1);
  EXPECT_EQ(first.getInteger("column"), 10);
  EXPECT_EQ(first.getInteger("length"), 4);
  EXPECT_EQ(first.getObject("fix")->getString("replacement"), "heads");
  EXPECT_EQ((*first.getArray("notes"))[0].getAsObject()->getString("message"), "here");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(std::getline(lines, line));
}

// Errors are counted past the limit, but not kept; references stay usable.
TEST_F(Diagnostics, ErrorLimit) {
  diags.setErrorLimit(2);
  for (int i = 0; i < 5; ++i)
    diags.report(Code::ExpectedSyntax, Location(), "a").note("b");
  EXPECT_EQ(diags.errorCount(), 5u);
  EXPECT_EQ(diags.all().size(), 2u);
  std::ostringstream os;
  diags.printSummary(os);
  EXPECT_EQ(os.str(), "5 errors (3 not shown)\n");
}

// sort() orders by location, and only the diagnostics that were reported since.
TEST_F(Diagnostics, Sort) {
  diags.report(Code::ExpectedSyntax, sources.locate(file, 20, 1), "first");
  diags.report(Code::ExpectedSyntax, sources.locate(file, 9, 1), "third");
  diags.report(Code::ExpectedSyntax, sources.locate(file, 2, 1), "second");
  diags.sort(1);
  EXPECT_EQ(diags.all()[0].message, "first");
  EXPECT_EQ(diags.all()[1].message, "second");
  EXPECT_EQ(diags.all()[2].message, "third");
}

// Codes are looked up by their text, have words for both readers, and no number is used twice.
TEST(Codes, Table) {
  std::set<std::string> seen;
  for (const CodeInfo &info : allCodes()) {
    EXPECT_TRUE(seen.insert(codeText(info.code)).second) << codeText(info.code);
    EXPECT_FALSE(info.title.empty()) << info.name;
    EXPECT_FALSE(info.explanation.empty()) << info.name;
    EXPECT_EQ(findCode(codeText(info.code)), &info);
  }
  EXPECT_EQ(findCode("T0000"), nullptr);
  EXPECT_EQ(findCode("nonsense"), nullptr);
  EXPECT_EQ(codeText(Code::ExpectedSyntax), "T0101");
}

// A file that cannot be read gives the system's reason, a directory included.
TEST(SourceManager, LoadFile) {
  SourceManager sources;
  std::string reason;
  EXPECT_FALSE(sources.loadFile("/nonexistent/a.titan", reason));
  EXPECT_EQ(reason, "No such file or directory");
  EXPECT_FALSE(sources.loadFile("/", reason));
  EXPECT_FALSE(reason.empty());
}

} // namespace
} // namespace titan
