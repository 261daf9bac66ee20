import tile.language as tl


# y = x: the first n complex numbers, each a pair of float32.
@ascend_kernel
def ccopy_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.copyout():
            tl.store(y + offsets, x_ub, mask=offsets < end)


def ccopy_host(x: torch.Tensor, y: torch.Tensor, n=0, incx=1, incy=1, tile: tl.constexpr = 8192):
    assert incx == 1 and incy == 1, "elements that do not follow each other"
    total = 2 * n
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    ccopy_kernel[cores](x, y, total, per_core, tile)
