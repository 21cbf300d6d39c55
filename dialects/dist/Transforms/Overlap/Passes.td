// The passes of the overlap phase: communication overlaps with computation.

#ifndef TITAN_DIST_OVERLAP_PASSES_TD
#define TITAN_DIST_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

def OverlapOption : Option<"overlap", "overlap", "::titan::dist::Overlap", "::titan::dist::Overlap::Always",
    "When communication overlaps with computation: always or never", [{::llvm::cl::values(
      clEnumValN(::titan::dist::Overlap::Always, "always", "Overlap where there is computation"),
      clEnumValN(::titan::dist::Overlap::Never, "never", "Leave all collectives synchronous"))}]>;

def DistFetchOffloaded : Pass<"dist-fetch-offloaded", "::mlir::func::FuncOp"> {
  let summary = "copies parameters from memory of the host before their use";
  let description = [{
    With `offload=params`, parameters are in memory of the host. Elementwise operations read parameters
    there: an optimizer's update, and a cast before a gather. All other operations, such as gathers and
    contractions, read a copy in memory of the device.

    ```mlir
    %g = dist.all_gather %w over ["shard"]
    // becomes
    %c = titan.copy %w
    %g = dist.all_gather %c over ["shard"]
    ```

    The pass precedes `--dist-prefetch-gathers`, which moves the copy of a slot together with its gather. The
    phase pipeline sets the option from the setting `offload` of the run.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let options = [
    ListOption<"offload", "offload", "std::string", "Tensors in memory of the host: params, optimizer">
  ];
  let statistics = [
    Statistic<"fetched", "fetched parameters", "Copies of parameters from memory of the host">
  ];
}

def DistPrefetchGathers : Pass<"dist-prefetch-gathers", "::mlir::func::FuncOp"> {
  let summary = "gathers the parameters of later iterations during the current one";
  let description = [{
    After the pass, the gathers of a repeat's scanned parameters are in flight when an iteration begins. The
    first gather starts before the repeat, and each later one in the previous iteration. The body waits at
    the position of the original gather and then starts the gather of the next slots, whose results are
    iteration arguments. The last iteration starts no gather.

    ```mlir
    titan.repeat <layers = 4> iter_args(%x) scanned(%w) {
    ^bb0(%l, %c, %wl):
      %g = dist.all_gather %wl over ["shard"]
      ...
    // becomes
    %first = dist.layer %w[0]
    %f = dist.all_gather %first over ["shard"] start 0
    titan.repeat <layers = 4> iter_args(%x, %f) scanned(%w) {
    ^bb0(%l, %c, %fl, %wl):
      %g = dist.wait 0 %fl
      %next = dist.layer %w[%l + 1]
      %n = dist.all_gather %next over ["shard"] start 0
      ...
      titan.yield ..., %n
    ```

    With `depth=2`, the gathers of the next two iterations are in flight: iteration i starts the gather of
    iteration i + 2. Values in flight keep their allocations, so even and odd iterations use different
    allocations. The repeat therefore gets two variants, `table [0, 1, 0, 1]`, which differ only in channels
    and iteration arguments. A body waits for its own gather and yields the other one unchanged. With
    `depth=0` the pass changes nothing.

    Only parameters are prefetched, because they do not change before the end of the step. Every iteration
    must scan the parameter, and all bodies of a repeat must gather it. A cast or copy before the gather moves
    with the gather. The repeat then also has the result of the cast or copy as an iteration argument,
    because the gather in flight reads it.

    With `overlap=never` the pass changes nothing. The phase pipeline sets the options from the settings
    `sharding.overlap` and `sharding.prefetch` of the run.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let options = [OverlapOption, Option<"prefetchDepth", "depth", "int64_t", "1",
    "How many iterations ahead a gather starts">];
  let statistics = [
    Statistic<"prefetchedGathers", "prefetched gathers", "Gathers of the next iteration during the current one">
  ];
}

def DistSplitCollectives : Pass<"dist-split-collectives", "::mlir::func::FuncOp"> {
  let summary = "starts collectives early and waits before their first use";
  let description = [{
    After the pass, a collective or message starts at its original position, and the wait precedes the first
    use of any of its results. A collective without computation between start and wait stays synchronous. The
    wait is at the latest before the next repeat, so that the operands do not live through the repeat.

    ```mlir
    %g = dist.reduce_scatter %p over ["shard"]
    %d = titan.contract %x, %w
    titan.yield %d, %g
    // becomes
    %f = dist.reduce_scatter %p over ["shard"] start 0
    %d = titan.contract %x, %w
    %g = dist.wait 0 %f reading %p
    titan.yield %d, %g
    ```

    With `overlap=never` the pass changes nothing. The phase pipeline sets the option from the setting
    `sharding.overlap` of the run.
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
  let options = [OverlapOption];
  let statistics = [
    Statistic<"startedCollectives", "started collectives", "Collectives that overlap with computation">
  ];
}

def DistVerifyOverlap : Pass<"dist-verify-overlap", "::mlir::func::FuncOp"> {
  let summary = "verifies that each start has exactly one wait and no use before it";
  let description = [{
    Read-only; the last pass of the overlap phase. On every path through a function, one wait follows each
    start on a channel, before the next start on that channel and before the end. Every body of a repeat
    begins and ends with the same channels in flight, except for starts that the last iteration omits. Only
    waits on the channel and iteration arguments use values in flight.
  }];
}

def DistVerifyMessages : Pass<"dist-verify-messages", "::mlir::func::FuncOp"> {
  let summary = "verifies that messages match and that no rank waits forever";
  let description = [{
    Read-only. The pass proves more than asynchronous messages need: no rank waits forever even if every
    send and receive waited for its partner where it starts.

    A *link* connects the ranks that are |offset| positions apart along some axes. A rank sees the two ends
    of a message at different operations of the program: `send by 1` and `receive by -1` face the later rank of
    a link, `receive by 1` and `send by -1` the earlier one. A message is open from its first end to its
    matching end. The rules:
    - The k-th operation that faces the later rank matches the k-th one that faces the earlier rank: a send
      and a receive with the same axes, offset and type.
    - While a message is open, there are no messages of other links, no collectives over its axes, and no
      repeats with either. The body of a repeat opens and closes its own messages.

    Why this suffices: all ranks run the same program. The times at which no message is open divide the
    program into phases, and no rank leaves a phase before its partners have reached it. Ranks that differ
    in other axes only do the same at the same time, and collectives among them complete. In a phase, the
    ranks of a link form lines. The last rank of a line waits for its earlier neighbour only, and executes
    these operations in the neighbour's order, so the neighbour never waits for it forever. The same then
    holds for the neighbour, and so on to the first rank.

    ```mlir
    %y = dist.receive %x over ["pp"] by 1 : T -> T
    %z = titan.exp %y : T -> T
    dist.send %z over ["pp"] by 1 : T
    ```
  }];
}

#endif // TITAN_DIST_OVERLAP_PASSES_TD
