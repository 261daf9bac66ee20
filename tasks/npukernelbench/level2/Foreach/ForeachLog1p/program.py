import tile.language as tl


# y[t] = ln(1 + x[t]), element by element, for every tensor of the list. u = 1 + x is rounded; what it
# loses, x - (u - 1), is made up for by its part of u: ln(u) + (x - (u - 1)) / u.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_log1p_kernel(x, y, per_core, tile):
    start = tl.program_id(0) * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    u_ub = tl.alloc_ub(tile, dtype=tl.float32)
    lost_ub = tl.alloc_ub(tile, dtype=tl.float32)
    small_ub = tl.alloc_ub(tile, dtype=tl.bool)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x[t] + offsets, x_ub, mask=offsets < end)
            with tl.compute():
                tl.vadd(u_ub, x_ub, 1.0)
                tl.vsub(lost_ub, u_ub, 1.0)
                tl.vsub(lost_ub, x_ub, lost_ub)
                tl.vdiv(lost_ub, lost_ub, u_ub)
                # Not at the ends, where it is nan.
                tl.vabs(y_ub, lost_ub)
                tl.vlt(small_ub, y_ub, 1.0)
                tl.vselect(lost_ub, small_ub, lost_ub, 0.0)
                tl.vln(y_ub, u_ub)
                tl.vadd(y_ub, y_ub, lost_ub)
            with tl.copyout():
                tl.store(y[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(x[t].numel(), 64) * 64


def foreach_log1p_host(x: list[torch.Tensor], y: list[torch.Tensor], tile: tl.constexpr = 6144):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_log1p_kernel[cores](x, y, per_core, tile)
