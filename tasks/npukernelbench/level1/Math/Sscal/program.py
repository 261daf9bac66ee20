import tile.language as tl


# x[i * incx] *= alpha for i < n, in place.
@ascend_kernel
def sscal_kernel(x, alpha, incx, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets * incx, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(y_ub, x_ub, alpha)
        with tl.copyout():
            tl.store(x + offsets * incx, y_ub, mask=offsets < end)


def sscal_host(x: torch.Tensor, alpha: float = 1.0, n=0, incx=1, tile: tl.constexpr = 4096):
    total = min(n, tl.cdiv(x.numel(), incx))
    if total <= 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sscal_kernel[cores](x, alpha, incx, total, per_core, tile)
