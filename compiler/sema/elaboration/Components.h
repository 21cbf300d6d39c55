// Models as components: the arguments of a model, and calls of models by other models.
//
// A call gives arguments and inputs by name. An input without a value is the input of this name of
// the whole model. The outputs are the results.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"
#include "compiler/sema/elaboration/SpecifiedModel.h"

#include <tuple>

namespace titan::sema {

class Components : ElaboratorComponent {
public:
  explicit Components(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// Defines the dimensions of the data and the arguments of the complete model.
  void defineTop(const std::vector<syntax::Formal> &formals);
  /// The declaration with the body of the callee: a model may derive from it. None after a report.
  Symbol findBody(const Symbol &callee);
  /// Defines the arguments of a called model in its scope. False after a report.
  bool bind(const Call &call, Frame &callee);
  /// An `input` of the current model: the value that the call gives, or an input of the whole
  /// model.
  Value input(const syntax::InputStmt &stmt, const TensorType &type);
  /// The outputs of a called model.
  Value collectOutputs(const Call &call, Frame &callee);
  /// Names the dimensions of results in the caller, as `as` does, unless a name has another
  /// meaning.
  void exposeDims(const Value &result, Location at);
  /// Whether the current statement is one of a model, outside of its repeats.
  bool isAtTopOfModel() const;

private:
  using Arguments = std::map<std::string, Argument>;
  /// The name of an argument, where its value is written, and the value.
  using DimKey = std::tuple<std::string, FileId, uint32_t, uint32_t, int64_t>;
  /// An input of the whole model, and the call that declared it first.
  struct KnownInput {
    Value value;
    unsigned frame;
    Location loc;
  };

  static DimKey makeKey(const std::string &name, const Binding &binding);
  void defineArguments(const std::vector<syntax::Formal> &formals, const Arguments &arguments);
  Argument argumentFor(const syntax::Formal &formal, const Arguments &arguments);
  void checkType(const syntax::Formal &formal, const Argument &argument);
  void defineDataDims(Frame &callee);
  bool readActual(const Call &call, const Actual &actual, const SpecifiedModel &model,
                  Arguments &arguments, Frame &callee);
  void record(const Symbol &called, Arguments arguments, Frame &callee);
  bool renameDataDim(const Actual &actual, Frame &callee);
  std::optional<Value> takeGiven(const syntax::InputStmt &stmt, const TensorType &type);
  bool reportRestOfInputs(const Call &call, const Frame &callee);
  void keepDims(const Frame &callee);

  std::map<std::string, KnownInput> inputs;
  /// The dimensions that arguments of called models have become. Calls of one model share them.
  std::map<DimKey, std::vector<DimId>> dimsOfArguments;
};

} // namespace titan::sema
