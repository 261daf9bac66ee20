// Calls a function that nobody defines: the loader refuses it.
#include "register/op_def_registry.h"
extern "C" int akgen_test_defined_nowhere();
static int called = akgen_test_defined_nowhere();
