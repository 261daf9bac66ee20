import tile.language as tl


# result: which element x[i * incx], i < n, counted from 1, has the smallest size; of
# equal ones the first. One core: of each tile it takes the elements that count, and compares the smallest with that so far.
@ascend_kernel
def isamin_kernel(x, result, total, stride, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
            tl.load(x + at * stride, x_ub, count=(count - 1) * stride + 1)
        with tl.compute():
            tl.gather(size_ub, x_ub, index_ub, 0, count=count)
            tl.vabs(size_ub, size_ub, count=count)
            tl.reduce_min(best_ub, size_ub, shared_ub, count=count)
            found = tl.extract_scalar(best_ub, 0)
            if place < 0 or found < best:
                best = found
                tl.veq(is_best_ub, size_ub, found, count=count)
                tl.iota(place_ub, 0)
                tl.vselect(place_ub, is_best_ub, place_ub, tile, count=count)
                tl.reduce_min(best_ub, place_ub, shared_ub, count=count)
                place = at + int(tl.extract_scalar(best_ub, 0))
    with tl.compute():
        tl.duplicate(result_ub, place + 1)
    with tl.copyout():
        tl.store(result, result_ub, count=1)


def isamin_host(x: torch.Tensor, result: torch.Tensor, n=0, incx=1, tile: tl.constexpr = 2048):
    assert 0 < incx and incx <= tile, "elements too far apart"
    isamin_kernel[1](x, result, n, incx, tile)
