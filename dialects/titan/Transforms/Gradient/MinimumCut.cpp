// The minimum cut of a graph whose nodes have weights, by shortest augmenting paths (Edmonds and
// Karp 1972).

#include "dialects/titan/Transforms/Gradient/MinimumCut.h"

#include <algorithm>
#include <deque>

using namespace titan::ir;

void MinimumCut::link(unsigned from, unsigned to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

unsigned MinimumCut::addNode(int64_t weight) {
  unsigned node = edgesOf.size() / 2 - 1;
  edgesOf.resize(edgesOf.size() + 2);
  link(getEntry(node), getExit(node), weight);
  return node;
}

void MinimumCut::addEdge(unsigned from, unsigned to) {
  link(getExit(from), getEntry(to), kUnlimited);
}

void MinimumCut::addSource(unsigned node) {
  link(kSource, getEntry(node), kUnlimited);
}

void MinimumCut::addSink(unsigned node) {
  link(getExit(node), kSink, kUnlimited);
}

std::vector<int64_t> MinimumCut::findPathsToSink() const {
  std::vector<int64_t> next(edgesOf.size(), -1);
  std::deque<unsigned> pending{kSink};
  while (!pending.empty()) {
    unsigned node = pending.front();
    pending.pop_front();
    for (unsigned outgoing : edgesOf[node]) {
      unsigned incoming = outgoing ^ 1U, from = edges[outgoing].to;
      if (from == kSink || next[from] >= 0 || edges[incoming].capacity == 0)
        continue;
      next[from] = incoming;
      pending.push_back(from);
    }
  }
  return next;
}

bool MinimumCut::augment() {
  std::vector<int64_t> next = findPathsToSink();
  if (next[kSource] < 0)
    return false;
  int64_t flow = kUnlimited;
  for (unsigned node = kSource; node != kSink; node = edges[next[node]].to)
    flow = std::min(flow, edges[next[node]].capacity);
  for (unsigned node = kSource; node != kSink; node = edges[next[node]].to) {
    edges[next[node]].capacity -= flow;
    edges[next[node] ^ 1].capacity += flow;
  }
  return true;
}

std::vector<unsigned> MinimumCut::run() {
  while (augment()) {
  }
  std::vector<int64_t> next = findPathsToSink();
  std::vector<unsigned> cut;
  for (unsigned node = 0; getExit(node) < edgesOf.size(); ++node)
    if (next[getEntry(node)] < 0 && next[getExit(node)] >= 0)
      cut.push_back(node);
  return cut;
}
