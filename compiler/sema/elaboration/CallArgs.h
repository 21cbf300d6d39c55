// The evaluated arguments of a call of a built-in function, with common checks.
#pragma once

#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

class CallArgs : ElaboratorComponent {
public:
  CallArgs(Elaboration &elaboration, const Call &call);

  /// An argument was erroneous by itself, as reported.
  bool hasErrors() const { return errors; }
  Location loc() const { return call.loc; }
  std::string name() const { return call.callee.builtin; }

  size_t count() const { return values.size(); }
  const Value &operator[](size_t i) const { return values[i]; }
  Location getLoc(size_t i) const { return valueLocs[i]; }
  /// Positional argument `i` as it is written.
  const Actual &argument(size_t i) const { return call.args[i]; }

  /// The dimension that positional argument `i` names, as in `index(seq)`; empty after an error.
  std::optional<DimId> dim(size_t i);

  /// Checks the arguments of the call; reports otherwise. The function takes `least` to `most`
  /// positional values and the `keywords`. With `over` it needs dimensions after `over`, with
  /// `along` one dimension after `along`; without, it takes none.
  bool expect(size_t least, size_t most, bool over, bool along,
              const std::vector<std::string> &keywords = {});
  /// Checks that `over` has one dimension.
  bool expectSingleOver();
  /// The value of a keyword, or null.
  const Value *keyword(const std::string &name) const;
  Location keywordLoc(const std::string &name) const;
  /// A keyword argument that is a number, or its default; empty after an error.
  std::optional<double> number(const std::string &name, double fallback);
  /// A keyword argument that is a list of numbers; an empty list if it is absent or `none`; empty
  /// after an error.
  std::optional<std::vector<double>> numbers(const std::string &name);
  /// A keyword argument that is one of the `legal` words (`none` is the word "none"), or its
  /// default.
  std::optional<std::string> word(const std::string &name, const std::vector<std::string> &legal,
                                  const std::string &fallback);

  std::vector<DimId> over, along;
  Location overLoc, alongLoc;

private:
  void read(const Actual &actual);
  void readDims(const Actual &actual);
  Value evaluate(const Actual &actual);

  const Call &call;
  std::vector<Value> values;
  std::vector<Location> valueLocs;
  std::map<std::string, std::pair<Value, Location>> keywords;
  bool errors = false;
};

} // namespace titan::sema
