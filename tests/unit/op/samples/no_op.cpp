// No OP_ADD.
#include "register/op_def_registry.h"
