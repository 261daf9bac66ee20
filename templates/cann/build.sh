#!/bin/sh
# Builds the operator with CANN and installs it in opp/ beside this script, for this project alone.
#
#   . /usr/local/Ascend/ascend-toolkit/set_env.sh && ./build.sh
#
# Two ways lead there: AKGEN_BUILD=msopgen lets CANN's msopgen make a project, whose sources are replaced by these (any CANN
# that has the tool); AKGEN_BUILD=cmake uses the CMakeLists.txt beside this script (a CANN with the CMake package ASC). By
# default the first that this machine has. SOC_VERSION names another chip than the one that the operator was judged for.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
soc=${SOC_VERSION:-@SOC@}
unit=@UNIT@
cann=${ASCEND_HOME_PATH:-${ASCEND_TOOLKIT_HOME:-}}
if [ -z "$cann" ] || [ ! -d "$cann" ]; then
    echo "build.sh: source CANN's set_env.sh first: ASCEND_HOME_PATH names no folder" >&2
    exit 2
fi
PATH=$PATH:$cann/python/site-packages/bin
way=${AKGEN_BUILD:-}
if [ -z "$way" ]; then
    way=cmake
    if command -v msopgen >/dev/null; then way=msopgen; fi
fi
rm -rf "$here/build" "$here/opp"
mkdir -p "$here/build"

with_msopgen() {
    # The description names the operator; all that msopgen writes of its tensors is replaced.
    msopgen gen -i "$here/operator.json" -c "ai_core-$soc" -lan cpp -out "$here/build/project"
    for part in op_host op_kernel; do
        find "$here/build/project/$part" -type f ! -name CMakeLists.txt -delete
        (cd "$here/$part" && find . -type f ! -name CMakeLists.txt ! -name options.cmake -exec cp --parents {} "$here/build/project/$part" \;)
    done
    options=$here/build/project/op_kernel/CMakeLists.txt
    { cat "$here/op_kernel/options.cmake" && cat "$options"; } >"$here/build/options"
    mv "$here/build/options" "$options"
    sed -i "s#/usr/local/Ascend/[a-z-]*/*latest#$cann#" "$here/build/project/CMakePresets.json"
    (cd "$here/build/project" && bash build.sh)
}

with_cmake() {
    package=$cann/compiler/tikcpp/ascendc_kernel_cmake
    cmake -S "$here" -B "$here/build/cmake" -DASCEND_CANN_PACKAGE_PATH="$cann" -DASC_DIR="$package" \
        -DASCEND_COMPUTE_UNIT="$unit" -Dvendor_name=akgen
    cmake --build "$here/build/cmake" --target binary
    cmake --build "$here/build/cmake" --target package
}

case $way in
msopgen | cmake) "with_$way" ;;
*)
    echo "build.sh: AKGEN_BUILD=$way is neither msopgen nor cmake" >&2
    exit 2
    ;;
esac
package=$(find "$here/build" -name 'custom_opp_*.run' | head -n 1)
if [ -z "$package" ]; then
    echo "build.sh: the build left no custom_opp_*.run below $here/build" >&2
    exit 1
fi
chmod +x "$package"
"$package" --install-path="$here/opp"
