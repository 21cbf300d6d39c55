#include "Apply.h"

#include "SampleOutput.h"
#include "checkpoint/Checkpoint.h"
#include "data/BatchReader.h"
#include "data/Data.h"
#include "metrics/Metrics.h"
#include "state/TensorFiles.h"

#include "base/Error.h"
#include "base/files/NpyWriter.h"
#include "base/files/PngFile.h"
#include "base/text/Counted.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

/// The program function of the outputs of one sample.
constexpr const char *function = "logits";

std::vector<SampleOutput> findOutputs(Executor &executor) {
  std::vector<SampleOutput> outputs;
  for (const Tensor &tensor : executor.program().tensors)
    if (tensor.role == Role::Output && tensor.function == function)
      outputs.emplace_back(executor, tensor);
  return outputs;
}

/// An output that is a picture: [height, width], or with 1, 3 or 4 colours as last dimension.
class Pictures {
public:
  Pictures(const SampleOutput &output, std::string folder)
      : output(output), folder(std::move(folder)) {
    const std::vector<int64_t> &shape = output.shape();
    colours = shape.size() == 3 ? shape[2] : 1;
    if (shape.size() < 2 || shape.size() > 3 || (colours != 1 && colours != 3 && colours != 4))
      throw UserError(fmt::format(
          "--images {}: this output has the sizes [{}] per sample; a picture has [height, width], "
          "or [height, width, colours] with 1, 3 or 4 colours",
          output.name(), fmt::join(shape, ", ")));
  }

  /// Numbers from 0 to 1 are shades; those outside are clamped.
  void write(int64_t sample) const {
    std::vector<uint8_t> pixels;
    for (double number : output.numbers())
      pixels.push_back(static_cast<uint8_t>(
          std::lround(255 * std::clamp(std::isnan(number) ? 0 : number, 0.0, 1.0))));
    writeFileAtomically(fmt::format("{}/{}-{:04}.png", folder, output.name(), sample),
                        encodePng(pixels, output.shape()[0], output.shape()[1], colours));
  }

private:
  const SampleOutput &output;
  std::string folder;
  int64_t colours;
};

/// One run of the command. Rank 0 writes the files.
class Application {
public:
  Application(Executor &executor, const Options &options, const Settings &settings)
      : executor(executor), options(options), settings(settings) {}

  void prepare() {
    executor.world().runCollectively([&] {
      if (options.initFrom.empty())
        throw UserError("apply needs weights: pass --init-from DIR or FILE.safetensors");
      outputs = findOutputs(executor);
      if (!executor.hasFunction(function) || outputs.empty())
        throw UserError("the model of this program has no outputs: declare `output NAME[...] = "
                        "...`");
      choosePictures();
      const std::vector<InputSpec> inputs = getInputSpecs(executor.program(), function);
      const DataSettings from = getTrainingSettings(settings);
      std::vector<EvaluationSet> sets = openEvaluationSets(executor.program(), from, function);
      if (sets.size() > 1)
        throw UserError(fmt::format("'{}' names several sets, and apply reads one", from.path));
      data.emplace(std::move(sets.front().data));
      reader.emplace(executor, function, inputs);
      if (executor.isFirst() && !options.dryRun)
        openFiles();
    });
  }

  void run() {
    std::vector<std::vector<std::byte>> memory = reader->makeBatch();
    executor.writeScalar("seed", static_cast<double>(settings.integer("seed", 0)));
    for (int64_t sample = 0; sample < data->samples(); ++sample) {
      reader->read(*data, sample, memory);
      reader->load(memory);
      executor.writeScalar("sample", static_cast<double>(sample));
      executor.run(function);
      write(sample);
    }
    for (const auto &file : files)
      file->finish();
    if (executor.isFirst())
      std::fprintf(stderr, "%s of %s in '%s'\n", counted(std::ssize(outputs), "output").c_str(),
                   counted(data->samples(), "sample").c_str(), folder().c_str());
  }

private:
  std::string folder() const { return options.out.empty() ? "outputs" : options.out; }

  void choosePictures() {
    if (options.images.empty())
      return;
    const auto chosen = std::ranges::find(outputs, options.images, &SampleOutput::name);
    std::vector<std::string> names;
    for (const SampleOutput &output : outputs)
      names.push_back(output.name());
    if (chosen == outputs.end())
      throw UserError(fmt::format("--images {}: the model has no such output; it has {}",
                                  options.images, fmt::join(names, ", ")));
    pictures.emplace(*chosen, folder());
  }

  void openFiles() {
    makeDirectory(folder(), "outputs");
    for (const SampleOutput &output : outputs) {
      std::vector<int64_t> shape{data->samples()};
      shape.insert(shape.end(), output.shape().begin(), output.shape().end());
      files.push_back(std::make_unique<NpyWriter>(fmt::format("{}/{}.npy", folder(), output.name()),
                                                  output.type(), shape));
    }
  }

  void write(int64_t sample) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string elements = outputs[i].collect();
      if (executor.isFirst())
        files[i]->append(elements);
    }
    if (executor.isFirst() && pictures)
      pictures->write(sample);
  }

  Executor &executor;
  const Options &options;
  const Settings &settings;
  std::vector<SampleOutput> outputs;
  std::optional<Pictures> pictures;
  std::optional<DataSource> data;
  std::optional<BatchReader> reader;
  std::vector<std::unique_ptr<NpyWriter>> files; // on rank 0
};

} // namespace

int apply(Executor &executor, const Options &options, const Settings &settings) {
  Application application(executor, options, settings);
  application.prepare();
  loadTrainedWeights(executor, options, settings);
  if (!options.dryRun)
    application.run();
  return 0;
}

} // namespace titan::rt
