import tile.language as tl


# y = |x|, element by element. Of complex64, pairs of float32, the modulus and 0: each part is computed with the other of its
# pair, and the odd ones become 0.
@ascend_kernel
def abs_math_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = x.dtype if x.dtype == tl.int32 or x.dtype == tl.int64 else tl.float32
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    other_ub = tl.alloc_ub(tile, dtype=tl.float32)
    half_ub = tl.alloc_ub(tile, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    odd_ub = tl.alloc_ub(tile, dtype=tl.bool)
    if x.dtype == tl.complex64:
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
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            if x.dtype == tl.complex64:
                tl.gather(other_ub, x_ub, index_ub, 0)
                tl.vmul(y_ub, x_ub, x_ub)
                tl.vmul(other_ub, other_ub, other_ub)
                tl.vadd(y_ub, y_ub, other_ub)
                tl.vsqrt(y_ub, y_ub)
                tl.vselect(y_ub, odd_ub, 0.0, y_ub)
            else:
                tl.vabs(y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def abs_math_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x.numel() * (2 if x.dtype == tl.complex64 else 1)
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    abs_math_kernel[cores](x, y, total, per_core, tile)
