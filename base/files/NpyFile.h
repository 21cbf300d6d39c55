// NumPy's format for one array (NEP 1; numpy.lib.format, versions 1 to 3): the magic "\x93NUMPY",
// two bytes of version, the length of the header (2 bytes in version 1, else 4, little-endian), a
// Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }, and the elements.
// The reader maps the file, and accepts row-major arrays of little-endian numbers and truth values.
// Pickled objects are refused: a reader of data must not run code.
//
// Errors: UserError "FILE: reason".
#pragma once

#include "base/files/MappedFile.h"
#include "base/files/Safetensors.h"

#include <string>

namespace titan {

class NpyFile {
public:
  /// `checksTruncation`: as of MappedFile.
  explicit NpyFile(const std::string &path, bool checksTruncation = false);

  /// The array; its type has the name of the safetensors format ("F32", "U8", ...).
  const StoredTensor &array() const { return content; }
  const MappedFile &mapping() const { return file; }

private:
  MappedFile file;
  StoredTensor content;
};

} // namespace titan
