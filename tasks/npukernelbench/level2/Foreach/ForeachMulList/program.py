import tile.language as tl


# y[t] = x1[t] * x2[t], element by element, for every tensor of the lists.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_mul_list_kernel(x1, x2, y, per_core, tile):
    start = tl.program_id(0) * per_core
    kind = tl.float32 if x1[0].dtype.is_floating_point else x1[0].dtype
    x1_ub = tl.alloc_ub(tile, dtype=kind)
    x2_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    begin = 0
    for t in range(len(x1)):
        end = min(start + per_core - begin, x1[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x1[t] + offsets, x1_ub, mask=offsets < end)
                tl.load(x2[t] + offsets, x2_ub, mask=offsets < end)
            with tl.compute():
                tl.vmul(y_ub, x1_ub, x2_ub)
            with tl.copyout():
                tl.store(y[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(x1[t].numel(), 64) * 64


def foreach_mul_list_host(
    x1: list[torch.Tensor],
    x2: list[torch.Tensor],
    y: list[torch.Tensor],
    tile: tl.constexpr = 8192,
):
    total = 0
    for t in range(len(x1)):
        total += tl.cdiv(x1[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_mul_list_kernel[cores](x1, x2, y, per_core, tile)
