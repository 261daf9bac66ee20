/* ListTensorDesc and TensorDesc, which kernel_operator.h leaves out. */
#include "../kernel_operator_list_tensor_intf.h"
