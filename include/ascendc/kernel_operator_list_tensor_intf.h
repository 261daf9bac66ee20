/* ListTensorDesc and TensorDesc, which kernel_operator.h leaves out. */
#include "kernel_operator.h"
#include "basic/list_tensor.h"
