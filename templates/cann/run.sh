#!/bin/bash
# Builds the operator, calls it on the chip with the inputs of every case, and compares what comes out:
#
#   . /usr/local/Ascend/ascend-toolkit/set_env.sh && ./run.sh
#
# --no-build takes what is installed in opp/ already. Needs g++ and Python with NumPy, which CANN needs as well. Exit code: 0 if
# every case is right by both limits, 1 if one is not, 2 if something is missing.
set -eu
cd "$(dirname "$0")"
if [ "${1-}" != --no-build ]; then ./build.sh; fi
cann=${ASCEND_HOME_PATH:-${ASCEND_TOOLKIT_HOME:-}}
vendor=$(find opp/vendors -mindepth 1 -maxdepth 1 -type d 2>/dev/null | head -n 1)
if [ -z "$vendor" ] || [ -z "$cann" ]; then
    echo "run.sh: opp/vendors holds no operator, or ASCEND_HOME_PATH is not set" >&2
    exit 2
fi
vendor=$PWD/$vendor
export ASCEND_CUSTOM_OPP_PATH=$vendor${ASCEND_CUSTOM_OPP_PATH:+:$ASCEND_CUSTOM_OPP_PATH}
export LD_LIBRARY_PATH=$vendor/op_api/lib:$cann/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
mkdir -p build
rm -rf out
"${CXX:-g++}" -std=c++17 -O1 -Wall -I"$vendor/op_api/include" -I"$vendor/op_api/include/aclnnop" -I"$cann/include" \
    -I"$cann/include/aclnn" test/main.cpp -L"$vendor/op_api/lib" -L"$cann/lib64" -lcust_opapi -lascendcl -lnnopbase \
    -o build/test
build/test || echo "run.sh: the program that calls the operator ended with $?" >&2
"${PYTHON:-python3}" compare.py
