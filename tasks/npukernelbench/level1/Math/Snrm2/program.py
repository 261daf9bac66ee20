import tile.language as tl


# result = sqrt(x[0]^2 + x[incx]^2 + .. + x[(n - 1) * incx]^2), by one core.
@ascend_kernel
def snrm2_kernel(x, result, total, incx, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    size_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile, dtype=tl.float32)
    result_ub = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(sum_ub, 0.0)
    for at in range(0, total, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets * incx, x_ub, mask=offsets < total, other=0.0)
        with tl.compute():
            tl.vmul(size_ub, x_ub, x_ub)
            tl.vadd(sum_ub, sum_ub, size_ub)
    with tl.compute():
        tl.reduce_sum(result_ub, sum_ub, shared_ub)
        tl.vsqrt(result_ub, result_ub, count=1)
    with tl.copyout():
        tl.store(result, result_ub, count=1)


def snrm2_host(x: torch.Tensor, result: torch.Tensor, n=0, incx=1, tile: tl.constexpr = 4096):
    # Positions beyond the end count nothing.
    total = min(n, tl.cdiv(x.numel(), incx))
    snrm2_kernel[1](x, result, total, incx, tile)
