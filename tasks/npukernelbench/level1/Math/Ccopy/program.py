import tile.language as tl


# Of y, every incy-th of the complex numbers, each a pair of float32, becomes one of x, every incx-th: n of them. Pairs that do not
# follow each other are moved as rows of two elements.
@ascend_kernel
def ccopy_kernel(x, y, total, incx, incy, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    if incx == 1 and incy == 1:
        for at in range(start, end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x + offsets, x_ub, mask=offsets < end)
            with tl.copyout():
                tl.store(y + offsets, x_ub, mask=offsets < end)
    else:
        for at in range(start, end, tile // 8):
            pairs = min(tile // 8, end - at) // 2
            with tl.copyin():
                tl.load_rows(x + at * incx, x_ub, pairs, 2, 2 * incx, 16)
            with tl.copyout():
                tl.store_rows(y + at * incy, x_ub, pairs, 2, 2 * incy, 16)


def ccopy_host(x: torch.Tensor, y: torch.Tensor, n=0, incx=1, incy=1, tile: tl.constexpr = 6144):
    total = 2 * n
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    ccopy_kernel[cores](x, y, total, incx, incy, per_core, tile)
