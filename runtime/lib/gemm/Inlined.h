// For what headers define for one kind of vectors: each translation unit has its own, lest the
// linker take a function that is compiled for some processors for one that others call.
#pragma once

#define TITAN_INLINED [[gnu::always_inline]] static inline
