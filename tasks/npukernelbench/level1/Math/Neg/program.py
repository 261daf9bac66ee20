import tile.language as tl


# y = -x, element by element.
@ascend_kernel
def neg_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x.dtype.is_floating_point else x.dtype
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    wide_ub = tl.alloc_ub(tile, dtype=tl.float32)
    is_128_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            if x.dtype == tl.int8:
                # 128 has no room in int8, and becomes -128 again.
                tl.cast(wide_ub, x_ub)
                tl.vneg(wide_ub, wide_ub)
                tl.veq(is_128_ub, wide_ub, 128.0)
                tl.vselect(wide_ub, is_128_ub, -128.0, wide_ub)
                tl.cast(y_ub, wide_ub)
            else:
                tl.vneg(y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def neg_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    neg_kernel[cores](x, y, total, per_core, tile)
