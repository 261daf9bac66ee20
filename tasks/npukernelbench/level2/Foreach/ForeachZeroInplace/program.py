import tile.language as tl


# Every element of every tensor of the list becomes 0, in place.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_zero_inplace_kernel(x, per_core, tile):
    start = tl.program_id(0) * per_core
    zero_ub = tl.alloc_ub(tile, dtype=x[0].dtype)
    with tl.compute():
        tl.duplicate(zero_ub, 0)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyout():
                tl.store(x[t] + offsets, zero_ub, mask=offsets < end)
        begin += tl.cdiv(x[t].numel(), 64) * 64


def foreach_zero_inplace_host(x: list[torch.Tensor], tile: tl.constexpr = 8192):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_zero_inplace_kernel[cores](x, per_core, tile)
