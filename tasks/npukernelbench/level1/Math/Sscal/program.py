import tile.language as tl


# x[i * incx] *= alpha for i < n, in place: every element of the stretch is multiplied, those between by 1.
@ascend_kernel
def sscal_kernel(x, alpha, incx, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile, dtype=tl.float32)
    whole_ub = tl.alloc_ub(tile, dtype=tl.float32)
    factor_ub = tl.alloc_ub(tile, dtype=tl.float32)
    is_meant_ub = tl.alloc_ub(tile, dtype=tl.bool)
    with tl.compute():
        # Multiples of incx: their quotient, with a little more against its rounding, is as large as its whole part.
        tl.iota(place_ub, 0)
        tl.vadd(whole_ub, place_ub, 0.5)
        tl.vdiv(whole_ub, whole_ub, incx)
        tl.vfloor(whole_ub, whole_ub)
        tl.vmul(whole_ub, whole_ub, incx)
        tl.veq(is_meant_ub, whole_ub, place_ub)
        tl.vselect(factor_ub, is_meant_ub, alpha, 1.0)
    # Whole strides of a tile, so that each begins with an element that is meant.
    span = tile // incx * incx
    for turn in range(tl.cdiv(end - start, span)):
        at = start + turn * span
        count = min(span, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=count)
        with tl.compute():
            tl.vmul(y_ub, x_ub, factor_ub, count=count)
        with tl.copyout():
            tl.store(x + at, y_ub, count=count)


def sscal_host(x: torch.Tensor, alpha: float = 1.0, n=0, incx=1, tile: tl.constexpr = 4096):
    assert 0 < incx and incx <= tile, "elements too far apart"
    total = min((n - 1) * incx + 1, x.numel())
    if total <= 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64 * incx) * (64 * incx)
    sscal_kernel[cores](x, alpha, incx, total, per_core, tile)
