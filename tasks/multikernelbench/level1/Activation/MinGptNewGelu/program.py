import tile.language as tl


# y = x * (1 + tanh(p)) / 2 with p = sqrt(2 / pi) * (x + 0.044715 * x^3), element by element, as
# x / (1 + exp(-2 p)): nothing cancels.
@ascend_kernel
def min_gpt_new_gelu_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(y_ub, x_ub, x_ub)
            tl.vmul(y_ub, y_ub, 0.044715)
            tl.vadd(y_ub, y_ub, 1.0)
            tl.vmul(y_ub, y_ub, x_ub)
            tl.vmul(y_ub, y_ub, -2.0 * math.sqrt(2.0 / math.pi))
            tl.vexp(y_ub, y_ub)
            tl.vadd(y_ub, y_ub, 1.0)
            tl.vdiv(y_ub, x_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def min_gpt_new_gelu_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    min_gpt_new_gelu_kernel[cores](x, y, total, per_core, tile)
