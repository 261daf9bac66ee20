import tile.language as tl


# y = x * value, element by element; of complex64, pairs of float32, both parts. Integers times a whole value are multiplied in their
# type. Times another they are multiplied in 64 bits by its mantissa, and the bits below the point are cut off.
@ascend_kernel
def muls_kernel(x, value, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x.dtype.is_floating_point or x.dtype == tl.complex64 else x.dtype
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    wide_ub = tl.alloc_ub(tile, dtype=tl.int64)
    sign_ub = tl.alloc_ub(tile, dtype=tl.int64)
    # value = mantissa / 2**shift; from 2**23 on every number is whole.
    scaled = value * 1.0
    shift = 0
    while abs(scaled) < 8388608.0 and scaled != float(int(scaled)):
        scaled = scaled * 2.0
        shift += 1
    mantissa = int(scaled)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            if kind == tl.float32:
                tl.vmul(y_ub, x_ub, value)
            elif shift == 0:
                tl.vmul(y_ub, x_ub, mantissa)
            else:
                tl.cast(wide_ub, x_ub)
                tl.vmul(wide_ub, wide_ub, mantissa)
                tl.vsign(sign_ub, wide_ub)
                tl.vabs(wide_ub, wide_ub)
                tl.vshift_right(wide_ub, wide_ub, shift)
                tl.vmul(wide_ub, wide_ub, sign_ub)
                tl.cast(y_ub, wide_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def muls_host(x: torch.Tensor, value: float, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x.numel() * (2 if x.dtype == tl.complex64 else 1)
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    muls_kernel[cores](x, value, y, total, per_core, tile)
