import tile.language as tl


# y = x1 <= x2, element by element.
@ascend_kernel
def less_equal_kernel(x1, x2, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x1.dtype.is_floating_point else x1.dtype
    x1_ub = tl.alloc_ub(tile, dtype=kind)
    x2_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x1 + offsets, x1_ub, mask=offsets < end)
            tl.load(x2 + offsets, x2_ub, mask=offsets < end)
        with tl.compute():
            tl.vle(y_ub, x1_ub, x2_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def less_equal_host(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x1.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    less_equal_kernel[cores](x1, x2, y, total, per_core, tile)
