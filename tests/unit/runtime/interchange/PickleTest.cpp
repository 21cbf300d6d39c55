// Pickles as data.
#include "interchange/Pickle.h"
#include "interchange/TorchTensor.h"

#include "base/Error.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

using namespace titan;
using namespace titan::rt;
using namespace std::string_literals;

namespace {

using Kind = Pickle::Kind;

const std::set<std::string_view> known = {"m Class", "torch Size"};

/// {"a": (1, -2, None, True), "b": [0.5], "c": m.Class() with the state {"size":
/// torch.Size((3,))}}, in protocol 4.
const std::string example = "\x80\x04}(\x8c\x01"s
                            "a(K\x01J\xfe\xff\xff\xffN\x88t\x8c\x01"s
                            "b](G\x3f\xe0\x00\x00\x00\x00\x00\x00"s
                            "e\x8c\x01"s
                            "c\x8c\x01m\x8c\x05"s
                            "Class\x93)\x81}\x8c\x04size\x94"
                            "ctorch\nSize\nK\x03\x85\x85Rsbu."s;

Pickle read(const std::string &text) {
  return Pickle("FILE", std::as_bytes(std::span(text)), known);
}

std::string getError(const std::string &text) {
  try {
    read(text);
  } catch (const UserError &error) {
    return error.what();
  }
  return "";
}

TEST(Pickle, ReadsData) {
  const Pickle pickle = read(example);
  const Pickle::Value &root = pickle.root();
  ASSERT_TRUE(root.is(Kind::Dict));
  const Pickle::Value *tuple = root.find("a");
  ASSERT_TRUE(tuple && tuple->is(Kind::Tuple) && tuple->items.size() == 4);
  EXPECT_EQ(tuple->items[0]->integer, 1);
  EXPECT_EQ(tuple->items[1]->integer, -2);
  EXPECT_TRUE(tuple->items[2]->is(Kind::None));
  EXPECT_TRUE(tuple->items[3]->is(Kind::Truth) && tuple->items[3]->integer == 1);
  EXPECT_EQ(root.find("b")->items[0]->number, 0.5);
  ASSERT_TRUE(root.find("c")->isCall("m Class"));
  const Pickle::Value *size = root.find("c")->field("size");
  ASSERT_TRUE(size && size->isCall("torch Size"));
  EXPECT_EQ(size->items[1]->items[0]->items[0]->integer, 3);
  EXPECT_EQ(root.find("d"), nullptr);
}

TEST(Pickle, RefusesUnknownNames) {
  EXPECT_EQ(getError("\x80\x02"s + "cos\nsystem\n(X\x02\x00\x00\x00"s + "lstR."s),
            "FILE: the pickle names the function or class `os.system`, which no checkpoint of "
            "tensors needs; nothing was executed at byte 13");
  EXPECT_NE(getError("\x8c\x08"s + "builtins\x8c\x04"s + "eval\x93."s).find("`builtins.eval`"),
            std::string::npos);
  EXPECT_NE(getError("i"s).find("no checkpoint needs (0x69)"), std::string::npos);
}

TEST(Pickle, RefusesDamage) {
  for (const char *text : {"", ".", "K", "t.", "\x85.", "(", "h\x01.", "}K\x01s.", "Na.", "NNR.",
                           "N}b.", "X\xff\xff\xff\xff.", "cno end", "(K\x01u."})
    EXPECT_NE(getError(text), "") << text;
  for (size_t size = 0; size < example.size(); ++size)
    EXPECT_NE(getError(example.substr(0, size)), "") << size;
}

/// A mutant is read or refused.
TEST(Pickle, ReadsOrRefusesMutants) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string mutant = example;
    for (int change = 0; change < 3; ++change)
      mutant[random() % mutant.size()] = static_cast<char>(random());
    getError(mutant);
    EXPECT_THROW(readTorchTensor("FILE", std::as_bytes(std::span(mutant))), UserError);
  }
}

} // namespace
