// fmt's functions, compiled once: with FMT_HEADER_ONLY, every file that uses it compiles them
// again, for five seconds. Debian's fmt is a shared library, which programs would need on every
// machine.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Templates that fmt's headers declare extern.
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;

} // namespace detail
FMT_END_NAMESPACE
