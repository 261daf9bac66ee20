# akgen-cuda.so by nvcc's own commands: CMake's CUDA would have every configuration ask for a compiler that most machines have not.
if(AKGEN_CUDA AND NOT AKGEN_FUZZ)
  find_program(NVCC nvcc PATHS /usr/local/cuda/bin)
endif()
if(NVCC AND NOT DEFINED NVCC_COMPILES)
  # It needs cuBLAS, and a compiler of the host's that it knows.
  file(WRITE ${CMAKE_BINARY_DIR}/cuda/probe.cu "#include <cublas_v2.h>\n#include <cuda_bf16.h>\nint main(void) { return !cublasGetStatusString(CUBLAS_STATUS_SUCCESS); }\n")
  execute_process(COMMAND ${NVCC} -std=c++17 -o ${CMAKE_BINARY_DIR}/cuda/probe ${CMAKE_BINARY_DIR}/cuda/probe.cu -lcublas
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    set(NVCC_COMPILES NO CACHE INTERNAL "")
  else()
    set(NVCC_COMPILES YES CACHE INTERNAL "")
  endif()
endif()
if(AKGEN_CUDA AND NOT AKGEN_FUZZ AND NVCC AND NVCC_COMPILES)
  cmake_path(GET NVCC PARENT_PATH nvcc_folder)
  find_library(CUBLAS cublas PATHS ${nvcc_folder}/../lib64 ${nvcc_folder}/../lib NO_CACHE)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/lm/cuda/*.cu)
  separate_arguments(cuda_flags UNIX_COMMAND "${AKGEN_CUDA_FLAGS}")
  set(cuda_objects)
  foreach(source ${cuda_sources})
    cmake_path(GET source STEM name)
    set(object ${CMAKE_BINARY_DIR}/cuda/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${NVCC} -std=c++17 -O2 -I ${CMAKE_SOURCE_DIR}/src -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Werror ${cuda_flags}
              -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${name}.cu" VERBATIM)
    list(APPEND cuda_objects ${object})
  endforeach()
  set(cuda_link -lcublas)
  if(CUBLAS)
    cmake_path(GET CUBLAS PARENT_PATH cublas_folder)
    set(cuda_link -L${cublas_folder} -lcublas -Xlinker=-rpath=${cublas_folder})
  endif()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/akgen-cuda.so
    COMMAND ${NVCC} -shared -cudart static -o ${CMAKE_BINARY_DIR}/akgen-cuda.so ${cuda_objects} ${cuda_link}
    DEPENDS ${cuda_objects} VERBATIM)
  add_custom_target(akgen-cuda ALL DEPENDS ${CMAKE_BINARY_DIR}/akgen-cuda.so)
elseif(AKGEN_CUDA STREQUAL "AUTO" OR NOT AKGEN_CUDA OR AKGEN_FUZZ)
  message(STATUS "akgen-cuda.so: not built")
else()
  message(FATAL_ERROR "AKGEN_CUDA is ${AKGEN_CUDA}, but nvcc (${NVCC}) compiles nothing with cuBLAS:\n${said}")
endif()
