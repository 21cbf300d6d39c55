// Tests of shards and global values.

#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Arguments.h"
#include "dialects/registration/RegisterAll.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;
using ::testing::ElementsAre;

namespace {

/// A mesh of shard = 2, tp = 3 and an auto axis of degree 1.
class Layout : public ::testing::Test {
protected:
  Layout() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(
        "dist.mesh @m [#dist.axis<shard = 2>, #dist.axis<tp = 3>, #dist.axis<more = auto>]",
        &context);
    mesh = std::make_unique<RankMesh>(dist::MeshOp::lookup(*module), 1);
  }

  NamedTensorType parse(llvm::StringRef text) {
    return cast<NamedTensorType>(parseType(("!titan.tensor<" + text + ">").str(), &context));
  }

  /// The value whose element i is i + 1.
  HostTensor makeCounting(NamedTensorType type) {
    HostTensor global;
    global.shape = type.getShape();
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      global.data.push_back(i + 1);
    return global;
  }

  /// Slices the counting value into the shards of all ranks and assembles it again.
  FailureOr<HostTensor> roundTrip(NamedTensorType type) {
    std::vector<HostTensor> shards;
    for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank)
      shards.push_back(getShard(type, *mesh, rank, makeCounting(type)));
    SmallVector<const HostTensor *> pointers;
    for (const HostTensor &shard : shards)
      pointers.push_back(&shard);
    return assemble(type, *mesh, pointers, [&] { return emitError(UnknownLoc::get(&context)); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<RankMesh> mesh;
};

// Ranks are row-major, the last axis fastest; groups follow the axes as listed.
TEST_F(Layout, Mesh) {
  EXPECT_EQ(mesh->getNumRanks(), 6);
  EXPECT_EQ(mesh->getCoordinate(5, "shard"), 1);
  EXPECT_EQ(mesh->getCoordinate(5, "tp"), 2);
  EXPECT_EQ(mesh->getCoordinate(5, "unknown"), 0);
  Builder builder(&context);
  EXPECT_THAT(mesh->getGroup(4, builder.getStrArrayAttr({"shard"})), ElementsAre(1, 4));
  EXPECT_THAT(mesh->getGroup(4, builder.getStrArrayAttr({"tp"})), ElementsAre(3, 4, 5));
  EXPECT_THAT(mesh->getGroup(4, builder.getStrArrayAttr({"tp", "shard"})),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(mesh->getGroupIndex(4, builder.getStrArrayAttr({"tp", "shard"})), 3);
  EXPECT_THAT(mesh->getGroup(4, builder.getStrArrayAttr({})), ElementsAre(4));
}

// The shards of a dimension over two axes are ordered outer to inner.
TEST_F(Layout, Dimensions) {
  NamedTensorType type = parse("f64[x = 12, y = 2], <[{shard, tp}, {}]>");
  EXPECT_THAT(getGlobalIndices(type, *mesh, 4), ElementsAre(16, 17, 18, 19));
  NamedTensorType columns = parse("f64[x = 2, y = 6], <[{shard}, {tp}]>");
  EXPECT_THAT(getGlobalIndices(columns, *mesh, 4), ElementsAre(8, 9));
}

// Flat storage consists of equal chunks of the remaining dimensions, the last one padded.
TEST_F(Layout, FlatStorage) {
  NamedTensorType type = parse("f64[layers = 2, x = 5], <[{}, {}] flat 1 {shard}>");
  EXPECT_THAT(getGlobalIndices(type, *mesh, 0), ElementsAre(0, 1, 2, 5, 6, 7));
  EXPECT_THAT(getGlobalIndices(type, *mesh, 5), ElementsAre(3, 4, -1, 8, 9, -1));
  HostTensor shard = getShard(type, *mesh, 5, makeCounting(type));
  EXPECT_THAT(shard.data, ElementsAre(4, 5, 0, 9, 10, 0));
  EXPECT_THAT(shard.shape, ElementsAre(2, 3));
}

// For every sharding, assembling the shards gives the original value.
TEST_F(Layout, RoundTrips) {
  for (const char *text :
       {"f64[x = 12, y = 2], <[{shard, tp}, {}]>", "f64[x = 2, y = 6], <[{shard}, {tp}]>",
        "f64[x = 7], <[{}] flat 0 {tp, shard}>",
        "f64[x = 7], <[{}] flat 0 {tp} partial sum {shard}>",
        "f64[x = 3, y = 5], <[{tp}, {}] flat 1 {shard}>", "f64[x = 4], <[{}] partial max {tp}>",
        "f64[x = 4], <[{shard}] partial min {tp}>", "f64[x = 4]", "f64[], <[]>"}) {
    NamedTensorType type = parse(text);
    FailureOr<HostTensor> global = roundTrip(type);
    ASSERT_TRUE(succeeded(global)) << text;
    EXPECT_EQ(global->data, makeCounting(type).data) << text;
  }
}

// Replicas must be bitwise equal, also in the sign of a zero.
TEST_F(Layout, Replicas) {
  NamedTensorType type = parse("f64[x = 2], <[{shard}]>");
  std::vector<HostTensor> shards(6, HostTensor{{1}, {0.0}});
  shards[5].data[0] = -0.0;
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &shard : shards)
    pointers.push_back(&shard);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(
      assemble(type, *mesh, pointers, [&] { return emitError(UnknownLoc::get(&context)); })));
  EXPECT_EQ(message, "replicas on ranks 3 and 5 differ at local element 0: 0 and -0");
}

} // namespace
