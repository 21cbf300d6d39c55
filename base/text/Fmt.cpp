// fmt's functions, compiled once: with FMT_HEADER_ONLY every file that formats anything compiles
// all of them again, five seconds each. Debian's fmt is a shared library, which a program would
// have to find wherever it is taken.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What fmt's headers say is instantiated elsewhere.
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;

} // namespace detail
FMT_END_NAMESPACE
