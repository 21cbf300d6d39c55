#include "base/prediction/KernelTime.h"

#include "base/Error.h"
#include "tests/unit/base/prediction/Machines.h"

#include <gtest/gtest.h>

using namespace titan;

namespace {

KernelWork makeProduct(double m, double n, double k) {
  KernelWork work;
  work.kind = KernelKind::Product;
  work.type = "bf16";
  work.m = m;
  work.n = n;
  work.k = k;
  work.flops = 2 * m * n * k;
  return work;
}

TEST(KernelTime, TakesTheLongerOfArithmeticAndMemory) {
  const Machine machine = makeMachine();
  KernelWork work;
  work.arithmetic = 10e9; // 1 ms
  work.bytesRead = 1e9;   // 1 ms
  work.bytesWritten = 2e9;
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 3e-3);
  work.special = 4e9; // 4 ms
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 5e-3);
}

TEST(KernelTime, UsesTheCacheThatHoldsTheData) {
  Machine machine = makeMachine();
  machine.device.levels.insert(machine.device.levels.begin(), {1e6, 4e12});
  KernelWork work;
  work.bytesRead = 1e6;
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 1e6 / 4e12);
  work.bytesRead = 2e6;
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 2e6 / 1e12);
}

TEST(KernelTime, ProductsHaveWavesOfBlocks) {
  const Machine machine = makeMachine();
  // 10 blocks on 10 cores: one wave. 11 blocks: two waves, of which the second has one block.
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(1280, 128, 128), machine.device), 1);
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(1408, 128, 128), machine.device), 11.0 / 20);
  // Half of the last row of blocks is outside of the result.
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(128 * 9 + 64, 128, 128), machine.device), 0.95);
}

TEST(KernelTime, DividesDeepProductsAlongK) {
  const Machine machine = makeMachine();
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(128, 128, 128), machine.device), 1);
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(128, 128, 4), machine.device), 0.1);
}

TEST(KernelTime, ShallowProductsAreLessEfficient) {
  Machine machine = makeMachine();
  machine.device.productEfficiency = 0.8;
  machine.device.halfDepth = 128;
  EXPECT_DOUBLE_EQ(getProductEfficiency(makeProduct(1280, 128, 128), machine.device), 0.4);
}

TEST(KernelTime, PrefersMeasuredProducts) {
  Machine machine = makeMachine();
  const double flops = 2.0 * 64 * 64 * 64;
  machine.device.products["bf16"].measured = {{1, 64, 64, 64, flops, flops / 50e12},
                                              {1, 4096, 4096, 4096, 2.0 * 4096 * 4096 * 4096, 1.0}};
  EXPECT_NEAR(getProductEfficiency(makeProduct(64, 64, 64), machine.device), 0.5, 1e-6);
}

TEST(KernelTime, DotsRunAsLoops) {
  const Machine machine = makeMachine();
  const KernelWork work = makeProduct(1, 1, 1e9); // one element of a block of 128 x 128
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 2e9 / 10e12);
}

TEST(KernelTime, AttentionHasItsOwnMeasuredKernels) {
  Machine machine = makeMachine();
  machine.device.attentionForward = 0.5;
  machine.device.products["bf16"].attentionBackward = {{8, 256, 256, 64, 1e12, 0.1}};
  KernelWork work = makeProduct(256, 256, 64);
  work.batch = 8;
  work.flops = 1e12;
  work.kind = KernelKind::Attention;
  EXPECT_DOUBLE_EQ(getKernelSeconds(work, machine.device), 1e12 / 50e12);
  work.kind = KernelKind::AttentionGradient;
  EXPECT_NEAR(getKernelSeconds(work, machine.device), 0.1, 1e-9);
}

TEST(KernelTime, NeedsThePeakOfTheType) {
  KernelWork work = makeProduct(8, 8, 8);
  work.type = "f32";
  EXPECT_THROW(getKernelSeconds(work, makeMachine().device), UserError);
}

} // namespace
