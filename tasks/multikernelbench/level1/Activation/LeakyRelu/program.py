import tile.language as tl


# y = x where x > 0, else negative_slope * x, element by element.
@ascend_kernel
def leaky_relu_kernel(x, y, negative_slope, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    positive_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vgt(positive_ub, x_ub, 0.0)
            tl.vmul(y_ub, x_ub, negative_slope)
            tl.vselect(y_ub, positive_ub, x_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def leaky_relu_host(
    x: torch.Tensor,
    y: torch.Tensor,
    negative_slope: float = 0.01,
    tile: tl.constexpr = 1536,
):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    leaky_relu_kernel[cores](x, y, negative_slope, total, per_core, tile)
