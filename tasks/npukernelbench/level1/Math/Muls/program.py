import tile.language as tl


# y = x * value, element by element; of complex64, pairs of float32, both parts. Integers times a whole value are multiplied in their
# type. Times another they are multiplied in 64 bits by its mantissa, and the bits below the point are cut off.
@ascend_kernel
def muls_kernel(x, value, y, whole, factor, mantissa, shift, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x.dtype.is_floating_point or x.dtype == tl.complex64 else x.dtype
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    wide_ub = tl.alloc_ub(tile, dtype=tl.int64)
    sign_ub = tl.alloc_ub(tile, dtype=tl.int64)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            if kind == tl.float32:
                tl.vmul(y_ub, x_ub, value)
            elif whole:
                tl.vmul(y_ub, x_ub, factor)
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
    whole = value == math.floor(value)
    factor = math.floor(value)
    # A value that is not whole has 24 bits, `shift` of them and more behind the point.
    shift = 0 if whole else 23 - math.floor(math.log2(abs(value)))
    mantissa = math.floor(value * 2.0**shift)
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    muls_kernel[cores](x, value, y, whole, factor, mantissa, shift, total, per_core, tile)
