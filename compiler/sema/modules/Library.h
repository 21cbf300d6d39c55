// Loads the root file and its imports, refuses cycles, and resolves names across files.
//
// `import std.norm` searches std/norm.titan in the directory of the importing file, then in each -I
// directory, then in the standard library. Its declarations are visible by their own names and as
// `norm.rms_norm`; with `as n`, only as `n.rms_norm`. Imports are not re-exported.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace titan::sema {

struct Unit;

/// A declaration with its file, whose names its body can use.
struct Symbol {
  const syntax::Decl *decl = nullptr;
  const Unit *unit = nullptr;
  explicit operator bool() const { return decl; }
};

/// The context of a name selects its namespace, so models (with blocks and functions), maps,
/// runs, optimizers, schedules and configurations may have equal names: `train tp2 = base on tp2
/// with {}`. Data are declared without a name.
enum class Namespace { Code, Maps, Runs, Optimizers, Schedules, Configs, Data };
Namespace getNamespace(const syntax::Decl &decl);

/// Declarations by namespace and name.
using SymbolTable = std::map<std::pair<Namespace, std::string>, Symbol>;

/// An imported file and the location of its import.
struct Import {
  const Unit *unit = nullptr;
  Location loc;
};

/// A loaded file with the names that are visible in it.
struct Unit {
  std::string path;
  FileId file = FileId::none;
  bool isPrelude = false;
  std::unique_ptr<syntax::Module> module;
  SymbolTable declared;
  std::map<Namespace, Symbol> defaults;     ///< its `default optimizer`, `default schedule`, ...
  SymbolTable imported;                     ///< by bare name
  std::map<std::string, Import> namespaces; ///< `norm` of `norm.rms_norm`
  /// Bare names that several imports declare. Their use needs the qualified name.
  std::map<std::pair<Namespace, std::string>, std::vector<const Unit *>> ambiguous;
};

/// The name and the source location of a declaration.
const syntax::Name &getName(const syntax::Decl &decl);
/// The parameters of a model, block or function; null for other declarations.
const std::vector<syntax::Formal> *getFormals(const syntax::Decl &decl);
/// "model", "function", ...
const char *getKindName(const syntax::Decl &decl);

class Library {
public:
  Library(SourceManager &sources, DiagnosticEngine &diags, std::vector<std::string> searchDirs)
      : sources(sources), diags(diags), searchDirs(std::move(searchDirs)) {}

  /// Loads a file and its imports. Returns null after an error in any of them; all errors are
  /// reported. `text` is the text of the file, if it is already loaded.
  const Unit *loadRoot(const std::string &path, std::optional<FileId> text = std::nullopt);

  /// Resolves a path in a unit. Returns an empty symbol, without a message, for an unknown name.
  Symbol lookup(const Unit &unit, const syntax::Path &path, Namespace ns = Namespace::Code) const;
  /// Resolves a name from `names`, including its qualifier if it has one.
  Symbol lookup(const Unit &unit, const std::string &name, Namespace ns = Namespace::Code) const;
  /// The optimizer or schedule of a run in `unit` that names none: the default of the file, else of
  /// the standard library.
  Symbol findDefault(const Unit &unit, Namespace ns) const;
  /// The dimension of a role (`samples`, `positions`) in the data of models of `unit`: by `default
  /// data` of the file, else of the standard library. Null if neither names it.
  const syntax::Name *dataDim(const Unit &unit, std::string_view role) const;
  /// Resolves a path as if private names (`_name`) were visible.
  Symbol lookupPrivate(const Unit &unit, const syntax::Path &path) const;
  /// The qualified names of a bare name that several imports declare.
  std::vector<std::string> ambiguous(const Unit &unit, const syntax::Path &path,
                                     Namespace ns = Namespace::Code) const;
  /// The imports of `unit` that declare the last name of `path`, with their qualifiers.
  std::vector<std::pair<std::string, Import>>
  findImports(const Unit &unit, const syntax::Path &path, Namespace ns = Namespace::Code) const;
  /// Notes the imports that a qualified name with an unknown qualifier may mean. Returns false if
  /// there are none.
  bool noteImports(Diagnostic &diag, const Unit &unit, const syntax::Path &path,
                   Namespace ns = Namespace::Code) const;
  /// Suggests the module of the library that declares an unknown name. Returns false if none does.
  bool suggestImport(Diagnostic &diag, const Unit &unit, const syntax::Path &path) const;
  /// Names visible in `unit`, for suggestions.
  std::vector<std::string> names(const Unit &unit, Namespace ns = Namespace::Code) const;

private:
  /// Parses a file and loads its imports. `at` is the import of the file.
  const Unit *load(const std::string &path, FileId file, Location at);
  void import(Unit &unit, const syntax::ImportDecl::Item &item);
  /// The path of the imported file; empty if there is none. `tried` receives the missing paths.
  std::string find(const Unit &unit, const syntax::ImportDecl::Item &item,
                   std::vector<std::string> &tried) const;
  std::vector<std::string> importable(const Unit &unit, const syntax::ImportDecl::Item &item) const;
  /// `std.norm` for `rms_norm`; empty if no module of the library declares it.
  std::string declaringModule(const std::string &name) const;
  /// Suggests an existing file for a missing one.
  static void suggestFile(Diagnostic &diag, const std::string &path);
  /// Fills `declared` and `defaults` of a unit.
  void declare(Unit &unit);
  void declareDefault(Unit &unit, const syntax::Decl &decl);
  void checkFormals(const syntax::Decl &decl);
  void checkData(const syntax::DataDecl &decl);
  void addPrelude(Unit &unit);
  void addPrelude(Unit &unit, const char *name);
  /// Makes the public declarations of `from` visible in `unit` by their bare names.
  void bind(Unit &unit, const Unit &from);
  bool reportCycle(const std::string &path, Location at);

  SourceManager &sources;
  DiagnosticEngine &diags;
  std::vector<std::string> searchDirs;
  std::map<std::string, std::unique_ptr<Unit>> units;    ///< by canonical path
  std::vector<std::pair<std::string, Location>> loading; ///< canonical paths, outermost first
};

} // namespace titan::sema
