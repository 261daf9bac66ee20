import tile.language as tl


# y = start + weight * (end - start), element by element.
@ascend_kernel
def lerp_kernel(a, b, weight, y, total, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, total)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(first, last, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(a + offsets, a_ub, mask=offsets < last)
            tl.load(b + offsets, b_ub, mask=offsets < last)
            tl.load(weight + offsets, weight_ub, mask=offsets < last)
        with tl.compute():
            tl.vsub(y_ub, b_ub, a_ub)
            tl.vmul(y_ub, y_ub, weight_ub)
            tl.vadd(y_ub, a_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < last)


def lerp_host(
    start: torch.Tensor,
    end: torch.Tensor,
    weight: torch.Tensor,
    y: torch.Tensor,
    tile: tl.constexpr = 2048,
):
    total = start.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    lerp_kernel[cores](start, end, weight, y, total, per_core, tile)
