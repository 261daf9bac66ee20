# Compile options of the kernel. The command has another name in projects of other versions.
if(COMMAND npu_op_kernel_options)
  npu_op_kernel_options(ascendc_kernels ALL OPTIONS @OPTIONS@)
elseif(COMMAND add_ops_compile_options)
  add_ops_compile_options(ALL OPTIONS @OPTIONS@)
endif()
