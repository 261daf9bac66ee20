import tile.language as tl


# y[t] has the values of x[t], for every tensor of the list.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_copy_kernel(x, y, per_core, tile):
    start = tl.program_id(0) * per_core
    x_ub = tl.alloc_ub(tile, dtype=x[0].dtype)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x[t] + offsets, x_ub, mask=offsets < end)
            with tl.copyout():
                tl.store(y[t] + offsets, x_ub, mask=offsets < end)
        begin += tl.cdiv(x[t].numel(), 64) * 64


def foreach_copy_host(x: list[torch.Tensor], y: list[torch.Tensor], tile: tl.constexpr = 8192):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_copy_kernel[cores](x, y, per_core, tile)
