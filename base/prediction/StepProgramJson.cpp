#include "base/prediction/StepProgramJson.h"

#include "base/Error.h"

#include <nlohmann/json.hpp>

namespace titan {
namespace {

using nlohmann::ordered_json;

constexpr int version = 1;

NLOHMANN_JSON_SERIALIZE_ENUM(KernelKind, {{KernelKind::Product, "product"},
                                          {KernelKind::Attention, "attention"},
                                          {KernelKind::AttentionGradient, "attention_grad"},
                                          {KernelKind::Loop, "loop"}})

using CollectiveKind = CollectiveWork::Kind;

constexpr std::pair<CollectiveKind, const char *> collectiveNames[] = {
    {CollectiveKind::AllGather, "all_gather"},
    {CollectiveKind::ReduceScatter, "reduce_scatter"},
    {CollectiveKind::AllReduce, "all_reduce"},
    {CollectiveKind::AllToAll, "all_to_all"},
    {CollectiveKind::Permute, "permute"}};

const char *getName(CollectiveKind kind) {
  for (auto [each, name] : collectiveNames)
    if (each == kind)
      return name;
  return "";
}

CollectiveKind findKind(const std::string &wanted) {
  for (auto [kind, name] : collectiveNames)
    if (name == wanted)
      return kind;
  throw UserError("unknown collective `" + wanted + "`");
}

ordered_json write(const StepItems &items);
StepItems readItems(const ordered_json &json);

ordered_json write(const KernelWork &work) {
  return {{"kernel", work.kind},          {"type", work.type},
          {"flops", work.flops},          {"arithmetic", work.arithmetic},
          {"special", work.special},      {"read", work.bytesRead},
          {"written", work.bytesWritten}, {"size", {work.batch, work.m, work.n, work.k}}};
}

ordered_json write(const StepItem &item) {
  ordered_json json;
  if (auto *kernel = std::get_if<StepKernel>(&item.what)) {
    json = write(kernel->work);
  } else if (auto *collective = std::get_if<StepCollective>(&item.what)) {
    json = {{"collective", getName(collective->work.kind)},
            {"axes", collective->work.axes},
            {"sent", collective->work.bytesSent},
            {"messages", collective->work.messages},
            {"channel", collective->channel}};
  } else if (auto *wait = std::get_if<StepWait>(&item.what)) {
    json = {{"wait", wait->channel}};
  } else {
    json["loop"] = ordered_json::array();
    for (const StepLoop::Body &body : std::get<StepLoop>(item.what).bodies)
      json["loop"].push_back({{"count", body.count}, {"items", write(body.items)}});
  }
  json["name"] = item.name;
  if (!item.source.file.empty())
    json["source"] = {item.source.file, item.source.line};
  return json;
}

ordered_json write(const StepItems &items) {
  ordered_json json = ordered_json::array();
  for (const StepItem &item : items)
    json.push_back(write(item));
  return json;
}

ordered_json write(const StepProgram::Rank &rank) {
  ordered_json calls = ordered_json::array(), messages = ordered_json::array();
  for (const StepCall &call : rank.calls)
    calls.push_back({{"function", call.function},
                     {"name", call.name},
                     {"times", call.times},
                     {"receives", call.receives},
                     {"waits", call.waits},
                     {"sends", call.sends}});
  for (const StepMessage &message : rank.messages)
    messages.push_back(
        {{"offset", message.offset}, {"bytes", message.bytes}, {"is_send", message.isSend}});
  return {{"calls", std::move(calls)},
          {"messages", std::move(messages)},
          {"last_waits", rank.lastWaits}};
}

KernelWork readKernel(const ordered_json &json) {
  KernelWork work{json.at("kernel"),  json.at("type"), json.at("flops"),  json.at("arithmetic"),
                  json.at("special"), json.at("read"), json.at("written")};
  const ordered_json &size = json.at("size");
  work.batch = size.at(0);
  work.m = size.at(1);
  work.n = size.at(2);
  work.k = size.at(3);
  return work;
}

StepLoop readLoop(const ordered_json &json) {
  StepLoop loop;
  for (const ordered_json &body : json)
    loop.bodies.push_back({body.at("count"), readItems(body.at("items"))});
  return loop;
}

StepItem readItem(const ordered_json &json) {
  StepItem item;
  item.name = json.at("name");
  if (json.contains("source"))
    item.source = {json.at("source").at(0), json.at("source").at(1)};
  if (json.contains("kernel"))
    item.what = StepKernel{readKernel(json)};
  else if (json.contains("collective"))
    item.what = StepCollective{
        {findKind(json.at("collective")), json.at("axes"), json.at("sent"), json.at("messages")},
        json.at("channel")};
  else if (json.contains("wait"))
    item.what = StepWait{json.at("wait")};
  else
    item.what = readLoop(json.at("loop"));
  return item;
}

StepItems readItems(const ordered_json &json) {
  StepItems items;
  for (const ordered_json &item : json)
    items.push_back(readItem(item));
  return items;
}

StepProgram::Rank readRank(const ordered_json &json) {
  StepProgram::Rank rank;
  for (const ordered_json &call : json.at("calls"))
    rank.calls.push_back({call.at("function"), call.at("name"), call.at("times"),
                          call.at("receives"), call.at("waits"), call.at("sends")});
  for (const ordered_json &message : json.at("messages"))
    rank.messages.push_back({message.at("offset"), message.at("bytes"), message.at("is_send")});
  rank.lastWaits = json.at("last_waits").get<std::vector<int>>();
  return rank;
}

void require(bool holds, const char *what) {
  if (!holds)
    throw UserError(std::string("no description of a step: ") + what);
}

void checkMessages(const std::vector<int> &messages, const StepProgram::Rank &rank) {
  for (int message : messages)
    require(message >= 0 && static_cast<size_t>(message) < rank.messages.size(),
            "a call has an unknown message");
}

void checkRank(const StepProgram::Rank &rank, const StepProgram &step) {
  for (const StepCall &call : rank.calls) {
    require(step.functions.count(call.function) != 0, "a call has an unknown function");
    for (const auto *messages : {&call.receives, &call.waits, &call.sends})
      checkMessages(*messages, rank);
  }
  checkMessages(rank.lastWaits, rank);
}

/// Checks what the simulation assumes of a step that the compiler derived.
void check(const StepProgram &step) {
  require(step.axes.size() == step.degrees.size(), "each axis needs a degree");
  require(!step.ranks.empty(), "it has no rank");
  const bool hasPipeline = step.pipelineAxis >= 0;
  require(!hasPipeline || static_cast<size_t>(step.pipelineAxis) < step.axes.size(),
          "the axis of the pipeline is unknown");
  const int numRanks = hasPipeline ? step.degrees[static_cast<size_t>(step.pipelineAxis)] : 1;
  require(step.ranks.size() == static_cast<size_t>(numRanks),
          "the ranks are not those of the pipeline");
  for (size_t rank = 0; rank < step.ranks.size(); ++rank) {
    checkRank(step.ranks[rank], step);
    for (const StepMessage &message : step.ranks[rank].messages) {
      const int64_t other =
          static_cast<int64_t>(rank) + (message.isSend ? message.offset : -int64_t{message.offset});
      require(other >= 0 && other < numRanks, "a message leaves the pipeline");
    }
  }
}

} // namespace

std::string writeStepProgram(const StepProgram &step) {
  ordered_json ranks = ordered_json::array(), functions = ordered_json::object();
  for (const StepProgram::Rank &rank : step.ranks)
    ranks.push_back(write(rank));
  for (const auto &[name, items] : step.functions)
    functions[name] = write(items);
  return ordered_json{{"version", version},
                      {"axes", step.axes},
                      {"degrees", step.degrees},
                      {"pipeline_axis", step.pipelineAxis},
                      {"tokens", step.tokens},
                      {"flops", step.flops},
                      {"model_flops", step.modelFlops},
                      {"type", step.type},
                      {"ranks", std::move(ranks)},
                      {"functions", std::move(functions)}}
             .dump(1) +
         "\n";
}

StepProgram readStepProgram(std::string_view text) {
  try {
    const ordered_json json = ordered_json::parse(text);
    if (json.at("version") != version)
      throw UserError("the description of the step has another version");
    StepProgram step;
    step.axes = json.at("axes").get<std::vector<std::string>>();
    step.degrees = json.at("degrees").get<std::vector<int>>();
    step.pipelineAxis = json.at("pipeline_axis");
    step.tokens = json.at("tokens");
    step.flops = json.at("flops");
    step.modelFlops = json.at("model_flops");
    step.type = json.at("type");
    for (const ordered_json &rank : json.at("ranks"))
      step.ranks.push_back(readRank(rank));
    for (const auto &[name, items] : json.at("functions").items())
      step.functions[name] = readItems(items);
    check(step);
    return step;
  } catch (const ordered_json::exception &error) {
    throw UserError(std::string("no description of a step: ") + error.what());
  }
}

} // namespace titan
