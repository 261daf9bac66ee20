#!/bin/sh
# test: cost=60 labels=long timeout=1500 builds=release
# No build of a machine without a GPU compiles akgen-cuda.so: this does, for all the chips that a build is for. Without
# optimisation, which takes four fifths of the time: `make cuda` is what optimises. Without nvcc there is nothing to compile with.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chips=$(sed -n 's/^AKGEN_CUDA_FLAGS:[A-Z]*=//p' "$(dirname "$AKGEN")/CMakeCache.txt")
cmake -S "$(dirname "$0")/../.." --preset release -B "$folder" -DAKGEN_CUDA=AUTO -DAKGEN_CUDA_FLAGS="$chips -Xcicc=-O0 -Xptxas=-O0" >"$folder/log"
if cmake --build "$folder" --target help | grep -q '^akgen-cuda: phony$'; then
    cmake --build "$folder" --target akgen-cuda
    [ -f "$folder/akgen-cuda.so" ]
else
    echo "skipped: no nvcc"
fi
