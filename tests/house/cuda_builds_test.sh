#!/bin/sh
# test: cost=100 labels=long timeout=1500 builds=release
# No build of a machine without a GPU compiles akgen-cuda.so: this does. Without nvcc there is nothing to compile with.
set -eu
build=$(dirname "$AKGEN")
if cmake --build "$build" --target help | grep -q '^akgen-cuda: phony$'; then
    cmake --build "$build" --target akgen-cuda
    [ -f "$build/akgen-cuda.so" ]
else
    echo "skipped: no nvcc"
fi
