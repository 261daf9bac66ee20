// The tiling of ATVOSS's reduce, for chips whose vector unit works on registers.
#error "akgen-unsupported: atvoss/reduce/reduce_tiling.h"
