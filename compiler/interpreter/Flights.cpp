// Collectives in flight on one rank.

#include "compiler/interpreter/Flights.h"

#include "compiler/interpreter/Layout.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;

static bool areEqual(const HostTensor &a, const HostTensor &b) {
  return a.data.size() == b.data.size() &&
         std::equal(a.data.begin(), a.data.end(), b.data.begin(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

LogicalResult Flights::start(Operation *op, std::vector<TensorRef> operands, const Memory &memory) {
  int64_t channel = *dist::getStartChannel(op);
  if (flights.count(channel))
    return op->emitOpError("starts on channel ")
           << channel << ", where something is in flight already";
  Flight flight{op, std::move(operands), {}, std::nullopt};
  for (Value result : op->getResults())
    flight.poison.push_back(memory.read(result));
  flights.emplace(channel, std::move(flight));
  return success();
}

void Flights::land(Operation *op, std::vector<HostTensor> results) {
  flights.at(*dist::getStartChannel(op)).landed = std::move(results);
}

FailureOr<bool> Flights::isReady(dist::WaitOp wait) const {
  auto it = flights.find(wait.getChannel());
  if (it == flights.end())
    return wait.emitOpError("waits on channel ")
           << wait.getChannel() << ", where nothing is in flight";
  return it->second.landed.has_value();
}

LogicalResult Flights::finish(dist::WaitOp wait, Memory &memory) {
  Flight flight = std::move(flights.at(wait.getChannel()));
  flights.erase(wait.getChannel());
  for (auto [operand, source] : llvm::zip(flight.operands, wait.getSources()))
    if (!areEqual(*operand, *memory.read(source)))
      return wait.emitOpError("finds an operand changed while it was being read");
  for (auto [poison, value] : llvm::zip(flight.poison, wait.getFlights()))
    if (!areEqual(*poison, *memory.read(value)))
      return wait.emitOpError("finds a value in flight overwritten");
  for (auto [result, tensor] : llvm::zip(wait.getResults(), *flight.landed))
    if (failed(memory.write(result, std::make_shared<HostTensor>(std::move(tensor)))))
      return failure();
  return success();
}

LogicalResult Flights::checkNone(Operation *op) const {
  if (flights.empty())
    return success();
  InFlightDiagnostic error = op->emitOpError("leaves values in flight on channel ")
                             << flights.begin()->first;
  error.attachNote(flights.begin()->second.start->getLoc()) << "started here";
  return error;
}
