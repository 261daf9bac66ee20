import tile.language as tl


# Every element of y is the value.
@ascend_kernel
def fill_kernel(y, value, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = y.dtype
    y_ub = tl.alloc_ub(tile, dtype=kind)
    with tl.compute():
        tl.duplicate(y_ub, tl.extract_scalar(value, 0))
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def fill_host(y: torch.Tensor, value: torch.Tensor, tile: tl.constexpr = 4096):
    total = y.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    fill_kernel[cores](y, value, total, per_core, tile)
