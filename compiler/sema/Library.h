// Files and what they declare: reads the root file and all it imports, refuses cycles, and resolves
// names across files.
//
// `import std.norm` looks for std/norm.titan beside the importing file, then in each directory
// given with -I, then in the standard library. What it declares is then known by its own name and
// as `norm.rms_norm`; with `as n`, as `n.rms_norm` alone. Imports are not handed on: a file sees
// only what it imports itself.
#ifndef TITAN_COMPILER_SEMA_LIBRARY_H
#define TITAN_COMPILER_SEMA_LIBRARY_H

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace titan::sema {

struct Unit;

/// A declaration and the file whose names its body sees.
struct Symbol {
  const syntax::Decl *decl = nullptr;
  const Unit *unit = nullptr;
  explicit operator bool() const { return decl; }
};

/// What a name stands for is clear from where it stands, so models (with blocks and functions),
/// maps, runs and optimizers may share a name: `train tp2 = base on tp2 with {}`.
enum class Namespace { Code, Maps, Runs, Optimizers };
Namespace namespaceOf(const syntax::Decl &decl);

/// Declarations by name, one table a space.
using Names = std::map<std::pair<Namespace, std::string>, Symbol>;

/// A file that another one imports, and where.
struct Import {
  const Unit *unit = nullptr;
  Location loc;
};

/// One file.
struct Unit {
  std::string path;
  FileId file = FileId::none;
  bool isPrelude = false;
  std::unique_ptr<syntax::Module> module;
  Names declared;
  Names imported;                           ///< by bare name
  std::map<std::string, Import> namespaces; ///< `norm` of `norm.rms_norm`
  /// Bare names that several imports declare: using one asks for the qualified name.
  std::map<std::pair<Namespace, std::string>, std::vector<const Unit *>> ambiguous;
};

/// Name and place of a declaration.
const syntax::Name &nameOf(const syntax::Decl &decl);
/// The parameters of a model, block or function; null of what has none.
const std::vector<syntax::Formal> *formalsOf(const syntax::Decl &decl);
/// "model", "function", ...
const char *kindOf(const syntax::Decl &decl);

class Library {
public:
  Library(SourceManager &sources, DiagnosticEngine &diags, std::vector<std::string> searchDirs)
      : sources(sources), diags(diags), searchDirs(std::move(searchDirs)) {}

  /// Reads a file and its imports. Null after an error in any of them, all of which are reported.
  /// `text` is the file's, where it is at hand already.
  const Unit *loadRoot(const std::string &path, std::optional<FileId> text = std::nullopt);

  /// What a path means in a unit; nothing, without a message, if nothing is known by that name.
  Symbol lookup(const Unit &unit, const syntax::Path &path, Namespace ns = Namespace::Code) const;
  /// The same of a name that `names` gives, with its dot if it has one.
  Symbol lookup(const Unit &unit, const std::string &name, Namespace ns = Namespace::Code) const;
  /// What a path would mean if files told their private names, which begin with `_`.
  Symbol lookupPrivate(const Unit &unit, const syntax::Path &path) const;
  /// The qualified names that a bare name may mean, where several imports declare it.
  std::vector<std::string> ambiguous(const Unit &unit, const syntax::Path &path,
                                     Namespace ns = Namespace::Code) const;
  /// The imports of `unit` that declare what `path` ends in, by the names that they go by.
  std::vector<std::pair<std::string, Import>> importsOf(const Unit &unit, const syntax::Path &path,
                                                        Namespace ns = Namespace::Code) const;
  /// Shows the imports that a qualified name may mean where the name before its dot is none; false
  /// if there are none such.
  bool noteImports(Diagnostic &diag, const Unit &unit, const syntax::Path &path,
                   Namespace ns = Namespace::Code) const;
  /// Says which module of the library declares what a path names that nothing is known of; false if
  /// none does.
  bool suggestImport(Diagnostic &diag, const Unit &unit, const syntax::Path &path) const;
  /// Names that `unit` can use, for suggestions.
  std::vector<std::string> names(const Unit &unit, Namespace ns = Namespace::Code) const;

private:
  const Unit *load(const std::string &path, FileId file, Location at);
  void import(Unit &unit, const syntax::ImportDecl::Item &item);
  std::string find(const Unit &unit, const syntax::ImportDecl::Item &item,
                   std::vector<std::string> &tried) const;
  std::vector<std::string> importable(const Unit &unit, const syntax::ImportDecl::Item &item) const;
  /// `std.norm` for `rms_norm`; nothing if no module of the library declares it.
  std::string declaringModule(const std::string &name) const;
  /// What was meant by the path of a file that is not there.
  static void suggestFile(Diagnostic &diag, const std::string &path);
  void declare(Unit &unit);
  void checkFormals(const syntax::Decl &decl);
  void addPrelude(Unit &unit);
  void addPrelude(Unit &unit, const char *name);
  void bind(Unit &unit, const Unit &from);
  bool reportCycle(const std::string &path, Location at);

  SourceManager &sources;
  DiagnosticEngine &diags;
  std::vector<std::string> searchDirs;
  std::map<std::string, std::unique_ptr<Unit>> units;    ///< by canonical path
  std::vector<std::pair<std::string, Location>> loading; ///< canonical paths, outermost first
};

} // namespace titan::sema

#endif
