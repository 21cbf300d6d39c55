//===- Passes.td - Collectives beside computation -------------------------===//

#ifndef TITAN_DIST_OVERLAP_PASSES_TD
#define TITAN_DIST_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistPrefetchGathers : Pass<"dist-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "gathers a layer's parameters while the layer before is computed";
  let description = [{
    After it, what a repeat's body gathers of its slices of parameters is in flight when an iteration
    begins: the first before the repeat, each next one in the iteration before. The body waits for it
    where it gathered, copies it to where it is used (it is gone after its last use), and starts the
    gather of the next slices into what the repeat carries. The last iteration starts none.

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

    Only parameters are gathered ahead, because they do not change before the step's end: those of which
    every iteration has a slice, and, of a repeat with several bodies, what all of them gather. What is
    cast before it is gathered is cast ahead too, and the repeat carries it as well, because the exchange
    reads it.
  }];
}

def DistSplitCollectives : Pass<"dist-split-collectives", "::mlir::ModuleOp"> {
  let summary = "parts a collective and its first use where something is computed between";
  let description = [{
    After it, a collective whose results are not needed at once is started where it stood and waited
    for before the first use of any of its results, or before the next repeat, whose memory should not
    pay for its operands.

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
  }];
}

def DistVerifyOverlap : Pass<"dist-verify-overlap", "::mlir::ModuleOp"> {
  let summary = "checks that everything that is started is waited for once, and not read before";
  let description = [{
    Read-only; closes the overlap phase. On every path through a function a start on a channel is
    followed by one wait on it before the next start and before the end; a repeat is entered and left
    with the same channels in flight as its body ends with, except those that its last iteration does not
    start. Values in flight are used by waits on their channel and carried by repeats, and nothing else.
  }];
}

#endif // TITAN_DIST_OVERLAP_PASSES_TD
