import tile.language as tl


# y[t] = x[t] - scalar, element by element, for every tensor of the list.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_sub_scalar_kernel(x, scalar, y, per_core, tile):
    start = tl.program_id(0) * per_core
    kind = tl.float32 if x[0].dtype.is_floating_point else x[0].dtype
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    value = tl.extract_scalar(scalar, 0)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x[t] + offsets, x_ub, mask=offsets < end)
            with tl.compute():
                tl.vsub(y_ub, x_ub, value)
            with tl.copyout():
                tl.store(y[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(x[t].numel(), 64) * 64


def foreach_sub_scalar_host(
    x: list[torch.Tensor],
    scalar: torch.Tensor,
    y: list[torch.Tensor],
    tile: tl.constexpr = 8192,
):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_sub_scalar_kernel[cores](x, scalar, y, per_core, tile)
