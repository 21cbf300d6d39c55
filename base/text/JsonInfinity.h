// Infinite numbers in configurations, which JSON lacks. Python's json writes `Infinity` and
// `-Infinity`, newer files have objects, {"__float__": "Infinity"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace titan {

/// The key of the only member of such an object.
inline constexpr const char *floatTag = "__float__";

/// The number with the name "Infinity" or "-Infinity".
std::optional<double> parseInfinity(std::string_view name);

/// `text` with each `Infinity` and `-Infinity` outside of strings as a JSON string: its mark.
/// Offsets stay.
std::string markInfinities(std::string_view text);

/// The name of the number with this mark, a control character; empty for other strings.
std::string_view getMarkedName(std::string_view mark);

/// The mark of the number with this name; empty for other names.
std::string_view getMark(std::string_view name);

/// The reverse of markInfinities, on the text of a writer that escapes marks, as nlohmann's does.
std::string unmarkInfinities(std::string text);

} // namespace titan
