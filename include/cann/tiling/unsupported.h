// Marks what CANN has and this project lacks: using it is a compile error that the toolchain turns into the verdict
// `unsupported` with the name.
#ifndef CANN_TILING_UNSUPPORTED_H
#define CANN_TILING_UNSUPPORTED_H

#define AKGEN_UNSUPPORTED(name) __attribute__((unavailable("akgen-unsupported: " name)))

#endif
