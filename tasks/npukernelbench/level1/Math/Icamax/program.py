import tile.language as tl


# result: the position, counted from 1, of the element x[i * incx], i < n, of complex numbers with the largest |re| + |im|; of
# equal ones the first. One core: of each tile it takes the elements that count, and compares the largest with that so far.
@ascend_kernel
def icamax_kernel(x, result, total, stride, incx, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    re_ub = tl.alloc_ub(tile, dtype=tl.float32)
    im_ub = tl.alloc_ub(tile, dtype=tl.float32)
    size_ub = tl.alloc_ub(tile, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    best_ub = tl.alloc_ub(8, dtype=tl.float32)
    is_best_ub = tl.alloc_ub(tile, dtype=tl.bool)
    result_ub = tl.alloc_ub(8, dtype=tl.int32)
    with tl.compute():
        tl.iota(index_ub, 0, step=4 * stride)
    taken = tile // stride
    best = 0.0
    place = -1
    for turn in range(tl.cdiv(total, taken)):
        at = turn * taken
        count = min(taken, total - at)
        with tl.copyin():
            tl.load(x + at * stride, x_ub, count=(count - 1) * stride + 2)
        with tl.compute():
            tl.gather(re_ub, x_ub, index_ub, 0, count=count)
            tl.gather(im_ub, x_ub, index_ub, 4, count=count)
            tl.vabs(size_ub, re_ub, count=count)
            tl.vabs(shared_ub, im_ub, count=count)
            tl.vadd(size_ub, size_ub, shared_ub, count=count)
            tl.reduce_max(best_ub, size_ub, shared_ub, count=count)
            found = tl.extract_scalar(best_ub, 0)
            if place < 0 or found > best:
                best = found
                tl.veq(is_best_ub, size_ub, found, count=count)
                tl.iota(place_ub, 0)
                tl.vselect(place_ub, is_best_ub, place_ub, tile, count=count)
                tl.reduce_min(best_ub, place_ub, shared_ub, count=count)
                place = at + int(tl.extract_scalar(best_ub, 0))
    with tl.compute():
        tl.duplicate(result_ub, place * incx + 1)
    with tl.copyout():
        tl.store(result, result_ub, count=1)


def icamax_host(x: torch.Tensor, result: torch.Tensor, n=0, incx=1, tile: tl.constexpr = 2048):
    assert 0 < incx and 2 * incx <= tile, "elements too far apart"
    icamax_kernel[1](x, result, n, 2 * incx, incx, tile)
