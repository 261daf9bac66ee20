// The tiling of ATVOSS's broadcast, for chips whose vector unit works on registers.
#error "akgen-unsupported: atvoss/broadcast/broadcast_tiling.h"
