// A line on the terminal that says what titanc is doing.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

/// Shows a slow operation on a terminal while it runs.
class Notice {
public:
  explicit Notice(const llvm::Twine &text) : isShown(llvm::errs().is_displayed()) {
    if (isShown)
      llvm::errs() << text;
  }
  ~Notice() {
    if (isShown)
      llvm::errs() << "\r\033[K";
  }
  Notice(const Notice &) = delete;
  Notice &operator=(const Notice &) = delete;

private:
  bool isShown;
};

} // namespace titan::driver
