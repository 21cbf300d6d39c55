// Base types of the syntax tree. The tree contains no type of the parser generator, so the rest of
// the compiler depends only on these structs.
//
// Nodes are structs with public members, owned by unique_ptr and discriminated by a kind. `as<T>()`
// returns null for another kind. Every node has the location of its whole text, and every name its
// own location. After a syntax error, any pointer documented as "may be null" can be null, but
// existing nodes are complete. Semantic analysis sees only modules without syntax errors.
#pragma once

#include "compiler/diagnostics/SourceManager.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace titan::syntax {

/// An identifier with its location.
struct Name {
  std::string text;
  Location loc;
};

/// `std.attention`, `model.layers`, `Dense.ffn`: one or more names joined by dots.
struct Path {
  std::vector<Name> segments;
  Location loc;

  std::string text() const;
  bool isSimple() const { return segments.size() == 1; }
  const Name &last() const { return segments.back(); }
};

/// A dimension in a list of dimensions: `embed`, `Dense.ffn`, or `embed as out` (a new dimension
/// `out` of embed's size that remembers its origin). `embed as new out` hides another `out`.
struct DimRef {
  Path dim;
  std::optional<Name> rename;
  bool hides = false;
  Location loc;

  /// The name of the dimension in the result.
  const Name &known() const { return rename ? *rename : dim.last(); }
};

/// `[batch, seq, embed]`, which may be empty (a scalar).
struct DimList {
  std::vector<DimRef> dims;
  Location loc;
};

/// The optional type of a value: `int[batch, seq]`, `f32`, or `[batch, seq]`.
struct TypeSpec {
  std::optional<Name> dtype;
  std::optional<DimList> dims;
  Location loc;

  bool isEmpty() const { return !dtype && !dims; }
};

/// The checked casts of the node classes. `Derived` has a member `kind`, each `T` a static `Kind`.
template <typename Derived> struct CastMixin {
  template <typename T> const T *as() const {
    const auto &self = static_cast<const Derived &>(*this);
    return self.kind == T::Kind ? static_cast<const T *>(&self) : nullptr;
  }
  template <typename T> T *as() {
    auto &self = static_cast<Derived &>(*this);
    return self.kind == T::Kind ? static_cast<T *>(&self) : nullptr;
  }
  template <typename T> bool is() const { return as<T>() != nullptr; }
};

} // namespace titan::syntax
