// The minimum cut of a graph whose nodes have weights.
#pragma once

#include <cstdint>
#include <vector>

namespace titan::ir {

/// A directed graph. A cut is a set of nodes without which no path leads from a source to a sink.
class MinimumCut {
public:
  /// Adds a node that costs `weight` in a cut, at least 0. Nodes are numbered from 0.
  unsigned addNode(int64_t weight);
  void addEdge(unsigned from, unsigned to);
  void addSource(unsigned node);
  void addSink(unsigned node);

  /// The cut of least total weight; of several, the one nearest to the sinks. This weight
  /// must be below 2^60. Takes one search of the graph for each path of the flow.
  std::vector<unsigned> run();

private:
  /// An edge of the flow network; its opposite has the index with the lowest bit flipped.
  struct Edge {
    unsigned to;
    int64_t capacity; ///< that the flow leaves
  };
  /// Each node is two in the network, joined by an edge of its weight.
  static unsigned getEntry(unsigned node) { return 2 + 2 * node; }
  static unsigned getExit(unsigned node) { return 3 + 2 * node; }
  void link(unsigned from, unsigned to, int64_t capacity);
  /// For each node of the network, an edge from it on a path to the sink, or -1.
  std::vector<int64_t> findPathsToSink() const;
  /// Sends flow along a path from the source. False if there is none.
  bool augment();

  static constexpr unsigned kSource = 0, kSink = 1;
  static constexpr int64_t kUnlimited = int64_t{1} << 61;
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf{2}; ///< by node of the network
};

} // namespace titan::ir
