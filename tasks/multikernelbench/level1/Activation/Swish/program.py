import tile.language as tl


# y = x * sigmoid(x) = x / (1 + exp(-x)), element by element.
@ascend_kernel
def swish_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vneg(y_ub, x_ub)
            tl.vexp(y_ub, y_ub)
            tl.vadd(y_ub, y_ub, 1.0)
            tl.vdiv(y_ub, x_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def swish_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    swish_kernel[cores](x, y, total, per_core, tile)
