#include "DataSource.h"

namespace titan::rt {

int64_t SampleOrder::operator()(int64_t sample) const {
  int64_t position = sample % count;
  if (!shuffle)
    return position;
  Permutation permutation(static_cast<uint64_t>(count), seed, static_cast<uint64_t>(epoch(sample)));
  return static_cast<int64_t>(permutation(static_cast<uint64_t>(position)));
}

namespace {

std::vector<double> getWeights(const std::vector<DataSource::Component> &components) {
  std::vector<double> weights;
  for (const DataSource::Component &component : components)
    weights.push_back(component.weight);
  return weights;
}

} // namespace

DataSource::DataSource(std::vector<Component> all, uint64_t seed, bool shuffle)
    : components(std::move(all)), mixture(getWeights(components)) {
  for (const Component &component : components)
    orders.emplace_back(component.set->samples(), seed, shuffle);
}

int64_t DataSource::samples() const {
  int64_t all = 0;
  for (const SampleOrder &order : orders)
    all += order.samples();
  return all;
}

std::vector<DataSource::Usage> DataSource::usageBefore(int64_t sample) const {
  const std::vector<int64_t> counts = mixture.counts(sample);
  std::vector<Usage> all;
  for (size_t i = 0; i < components.size(); ++i)
    all.push_back({components[i].path, counts[i],
                   static_cast<double>(counts[i]) / static_cast<double>(orders[i].samples())});
  return all;
}

} // namespace titan::rt
