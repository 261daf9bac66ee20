import tile.language as tl


# result = |x[0]| + |x[incx]| + .. + |x[(n - 1) * incx]|, by one core, which takes the elements that count of each tile.
@ascend_kernel
def sasum_kernel(x, result, total, incx, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    size_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    result_ub = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(sum_ub, 0.0)
        tl.iota(index_ub, 0, step=4 * incx)
    taken = tile // incx
    for turn in range(tl.cdiv(total, taken)):
        at = turn * taken
        count = min(taken, total - at)
        with tl.copyin():
            tl.load(x + at * incx, x_ub, count=(count - 1) * incx + 1)
        with tl.compute():
            tl.gather(size_ub, x_ub, index_ub, 0, count=count)
            tl.vabs(size_ub, size_ub, count=count)
            tl.vadd(sum_ub, sum_ub, size_ub, count=count)
    with tl.compute():
        tl.reduce_sum(result_ub, sum_ub, shared_ub)
    with tl.copyout():
        tl.store(result, result_ub, count=1)


def sasum_host(x: torch.Tensor, result: torch.Tensor, n=0, incx=1, tile: tl.constexpr = 4096):
    assert 0 < incx and incx <= tile, "elements too far apart"
    # Positions beyond the end count nothing.
    total = min(n, tl.cdiv(x.numel(), incx))
    sasum_kernel[1](x, result, total, incx, tile)
