#include "Generate.h"

#include "TensorFiles.h"

#include "titan/runtime/error.h"
#include "titan/runtime/random_stream.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace titan::rt {

namespace {

class Generator {
public:
  explicit Generator(Session &session)
      : session(session), tokens(session.find(Role::Input, "tokens", "logits")),
        logits(session.find(Role::Output, "logits", "logits")) {
    if (!session.hasFunction("logits") || !tokens || !logits)
      throw UserError("this program writes no text: its model has no output called logits");
    length = tokens->info.dims[1].size;
  }

  /// Logits of the token after `text`, the same on every rank.
  std::vector<double> next(const std::vector<int64_t> &text) {
    size_t first = text.size() > static_cast<size_t>(length) ? text.size() - length : 0;
    loadPrefix(text, first);
    session.run("logits");
    return collect(static_cast<int64_t>(text.size() - first) - 1);
  }

private:
  void loadPrefix(const std::vector<int64_t> &text, size_t first) {
    HostView host = session.view(*tokens, HostView::Access::Write);
    session.layoutOf(tokens->info).forEachRun([&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i) {
        size_t position = first + static_cast<size_t>((run.global + i) % length);
        host.as<int64_t>()[run.local + i] = position < text.size() ? text[position] : 0;
      }
    });
  }

  /// Row `position` of the logits, put together from the ranks that hold parts of it.
  std::vector<double> collect(int64_t position) {
    int64_t vocabulary = logits->info.dims.back().size;
    std::vector<double> row(vocabulary);
    Layout layout = session.layoutOf(logits->info);
    HostView host = session.view(*logits, HostView::Access::Read);
    const std::byte *data = host.data();
    if (layout.isWriter())
      layout.forEachRun([&](const Run &run) {
        for (int64_t i = 0; i < run.count; ++i)
          if ((run.global + i) / vocabulary == position)
            row[(run.global + i) % vocabulary] = valueAt(data, run.local + i);
      });
    session.world().everyone().allReduce(row.data(), vocabulary, DType::F64, Reduction::Sum,
                                         {"collecting logits", ""});
    return row;
  }

  double valueAt(const std::byte *data, int64_t index) const {
    switch (logits->info.dtype) {
    case DType::F64:
      return reinterpret_cast<const double *>(data)[index];
    case DType::BF16:
      return reinterpret_cast<const bf16 *>(data)[index];
    default:
      return reinterpret_cast<const float *>(data)[index];
    }
  }

  Session &session;
  const Tensor *tokens, *logits;
  int64_t length; // of the sequence the program was compiled for
};

} // namespace

int64_t chooseToken(const std::vector<double> &logits, double temperature, double uniform) {
  auto best = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0)
    return best - logits.begin();
  std::vector<double> weight(logits.size());
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    total += weight[i] = std::exp((logits[i] - *best) / temperature);
  double left = uniform * total;
  for (size_t i = 0; i < weight.size(); ++i)
    if ((left -= weight[i]) < 0)
      return static_cast<int64_t>(i);
  return best - logits.begin();
}

int generate(Session &session, const Options &options, const Settings &settings) {
  Generator generator(session);
  if (options.initFrom.empty())
    throw UserError("generate needs weights: pass --init-from DIR or FILE.safetensors");
  if (options.prompt.empty())
    throw UserError("generate needs at least one byte to go on from: pass --prompt TEXT");
  constexpr Role parameters[] = {Role::Parameter};
  loadTensors(session, WeightStore(options.initFrom), parameters);

  std::vector<int64_t> text;
  for (unsigned char byte : options.prompt)
    text.push_back(byte);
  auto print = [&](const std::string &part) {
    if (session.isFirst())
      std::fwrite(part.data(), 1, part.size(), stdout);
    std::fflush(stdout);
  };
  RandomStream random(static_cast<uint64_t>(settings.integer("seed", 0)), "generate", "");
  print(options.prompt);
  for (int64_t i = 0; i < options.maxTokens; ++i) {
    text.push_back(
        chooseToken(generator.next(text), options.temperature, random.uniform(text.size())));
    print(std::string(1, static_cast<char>(text.back())));
  }
  print("\n");
  return 0;
}

} // namespace titan::rt
