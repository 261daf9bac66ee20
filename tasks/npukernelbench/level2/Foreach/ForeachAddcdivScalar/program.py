import tile.language as tl


# y[t] = x1[t] + x2[t] / x3[t] * scalar, element by element, for every tensor of the lists.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_addcdiv_scalar_kernel(x1, x2, x3, scalar, y, per_core, tile):
    start = tl.program_id(0) * per_core
    x1_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x2_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x3_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value = tl.extract_scalar(scalar, 0)
    begin = 0
    for t in range(len(x1)):
        end = min(start + per_core - begin, x1[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x1[t] + offsets, x1_ub, mask=offsets < end)
                tl.load(x2[t] + offsets, x2_ub, mask=offsets < end)
                tl.load(x3[t] + offsets, x3_ub, mask=offsets < end)
            with tl.compute():
                tl.vdiv(y_ub, x2_ub, x3_ub)
                tl.vmul(y_ub, y_ub, value)
                tl.vadd(y_ub, x1_ub, y_ub)
            with tl.copyout():
                tl.store(y[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(x1[t].numel(), 64) * 64


def foreach_addcdiv_scalar_host(
    x1: list[torch.Tensor],
    x2: list[torch.Tensor],
    x3: list[torch.Tensor],
    scalar: torch.Tensor,
    y: list[torch.Tensor],
    tile: tl.constexpr = 4096,
):
    total = 0
    for t in range(len(x1)):
        total += tl.cdiv(x1[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_addcdiv_scalar_kernel[cores](x1, x2, x3, scalar, y, per_core, tile)
