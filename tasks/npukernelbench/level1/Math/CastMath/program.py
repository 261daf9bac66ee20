import tile.language as tl


# y = x in another data type, element by element. From real numbers to integers the fraction is cut off; of integers that do not
# fit the low bits stay: they are shifted up and, with the sign, down again.
@ascend_kernel
def cast_math_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32 if x.dtype.is_floating_point else x.dtype)
    wide_ub = tl.alloc_ub(tile, dtype=tl.int64 if x.dtype == tl.int64 else tl.int32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32 if y.dtype.is_floating_point else y.dtype)
    bits = 8 if y.dtype == tl.int8 else 16 if y.dtype == tl.int16 else 32
    lost = (64 if x.dtype == tl.int64 else 32) - bits
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            if y.dtype.is_floating_point:
                tl.cast(y_ub, x_ub)
            elif y.dtype == tl.bool or y.dtype == tl.int64:
                tl.cast(y_ub, x_ub, round="zero")
            else:
                tl.cast(wide_ub, x_ub, round="zero")
                if y.dtype == tl.uint8:
                    tl.vand(wide_ub, wide_ub, 255)
                else:
                    tl.vshift_left(wide_ub, wide_ub, lost)
                    tl.vshift_right(wide_ub, wide_ub, lost)
                tl.cast(y_ub, wide_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def cast_math_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    cast_math_kernel[cores](x, y, total, per_core, tile)
