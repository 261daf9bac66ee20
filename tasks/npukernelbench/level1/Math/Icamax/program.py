import tile.language as tl


# result: the position, counted from 1, of the element x[i * incx], i < n, of complex numbers with the largest |re| + |im|; of equal
# ones the first. One core: the largest of each tile is compared with the largest so far.
@ascend_kernel
def icamax_kernel(x, result, total, incx, tile):
    re_ub = tl.alloc_ub(tile, dtype=tl.float32)
    im_ub = tl.alloc_ub(tile, dtype=tl.float32)
    size_ub = tl.alloc_ub(tile, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile, dtype=tl.float32)
    best_ub = tl.alloc_ub(8, dtype=tl.float32)
    is_best_ub = tl.alloc_ub(tile, dtype=tl.bool)
    result_ub = tl.alloc_ub(8, dtype=tl.int32)
    best = 0.0
    place = -1
    for at in range(0, total, tile):
        count = min(tile, total - at)
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets * (2 * incx), re_ub, mask=offsets < total)
            tl.load(x + 1 + offsets * (2 * incx), im_ub, mask=offsets < total)
        with tl.compute():
            tl.vabs(size_ub, re_ub)
            tl.vabs(shared_ub, im_ub)
            tl.vadd(size_ub, size_ub, shared_ub)
            tl.reduce_max(best_ub, size_ub, shared_ub, count=count)
            found = tl.extract_scalar(best_ub, 0)
            if place < 0 or found > best:
                best = found
                tl.veq(is_best_ub, size_ub, found)
                tl.iota(place_ub, 0)
                tl.vselect(place_ub, is_best_ub, place_ub, tile)
                tl.reduce_min(best_ub, place_ub, shared_ub, count=count)
                place = at + int(tl.extract_scalar(best_ub, 0))
    with tl.compute():
        tl.duplicate(result_ub, place * incx + 1)
    with tl.copyout():
        tl.store(result, result_ub, count=1)


def icamax_host(x: torch.Tensor, result: torch.Tensor, n=0, incx=1, tile: tl.constexpr = 2048):
    icamax_kernel[1](x, result, n, incx, tile)
