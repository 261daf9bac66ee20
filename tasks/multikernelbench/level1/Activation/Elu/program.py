import tile.language as tl


# y = x where x > 0, else alpha * (exp(x) - 1), element by element.
@ascend_kernel
def elu_kernel(x, y, alpha, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    low_ub = tl.alloc_ub(tile, dtype=tl.float32)
    positive_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            # exp(x) - 1 = tanh(x / 2) * (exp(x) + 1) for x <= 0: nothing cancels near 0.
            tl.vmin(low_ub, x_ub, 0.0)
            tl.vexp(y_ub, low_ub)
            tl.vadd(y_ub, y_ub, 1.0)
            tl.vmul(low_ub, low_ub, 0.5)
            tl.vtanh(low_ub, low_ub)
            tl.vmul(y_ub, y_ub, low_ub)
            tl.vmul(y_ub, y_ub, alpha)
            tl.vgt(positive_ub, x_ub, 0.0)
            tl.vselect(y_ub, positive_ub, x_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def elu_host(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0, tile: tl.constexpr = 2048):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    elu_kernel[cores](x, y, alpha, total, per_core, tile)
