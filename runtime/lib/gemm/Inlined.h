// For functions of headers that several instruction sets compile: each translation unit has its own
// copy. The linker must not pick a copy that needs an instruction set the caller lacks.
#pragma once

#define TITAN_INLINED [[gnu::always_inline]] static inline
