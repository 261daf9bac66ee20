import tile.language as tl


# result = matx * maty, element by element, of complex numbers: pairs of float32. With ~ for the parts of each pair in the other
# order, a product is (re re - im im, re im + im re): x y - ~(x y) in even places, x ~y + ~(x ~y) in odd ones.
@ascend_kernel
def complex_mat_dot_kernel(matx, maty, result, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    same_ub = tl.alloc_ub(tile, dtype=tl.float32)
    cross_ub = tl.alloc_ub(tile, dtype=tl.float32)
    swapped_ub = tl.alloc_ub(tile, dtype=tl.float32)
    result_ub = tl.alloc_ub(tile, dtype=tl.float32)
    half_ub = tl.alloc_ub(tile, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    odd_ub = tl.alloc_ub(tile, dtype=tl.bool)
    with tl.compute():
        # The other part of number i is number i + 1, of an odd one i - 1; four bytes each.
        tl.iota(half_ub, 0, step=0.5)
        tl.vfloor(place_ub, half_ub)
        tl.vsub(half_ub, half_ub, place_ub)
        tl.vgt(odd_ub, half_ub, 0.0)
        tl.vselect(half_ub, odd_ub, -4.0, 4.0)
        tl.iota(place_ub, 0, step=4)
        tl.vadd(place_ub, place_ub, half_ub)
        tl.cast(index_ub, place_ub)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(matx + offsets, x_ub, mask=offsets < end)
            tl.load(maty + offsets, y_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(same_ub, x_ub, y_ub)
            tl.gather(swapped_ub, same_ub, index_ub, 0)
            tl.vsub(same_ub, same_ub, swapped_ub)
            tl.gather(swapped_ub, y_ub, index_ub, 0)
            tl.vmul(cross_ub, x_ub, swapped_ub)
            tl.gather(swapped_ub, cross_ub, index_ub, 0)
            tl.vadd(cross_ub, cross_ub, swapped_ub)
            tl.vselect(result_ub, odd_ub, cross_ub, same_ub)
        with tl.copyout():
            tl.store(result + offsets, result_ub, mask=offsets < end)


def complex_mat_dot_host(
    matx: torch.Tensor,
    maty: torch.Tensor,
    result: torch.Tensor,
    m=1,
    n=1,
    tile: tl.constexpr = 512,
):
    total = 2 * m * n
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    complex_mat_dot_kernel[cores](matx, maty, result, total, per_core, tile)
