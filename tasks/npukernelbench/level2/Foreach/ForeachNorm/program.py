import tile.language as tl


# y[t] is the p-norm of x[t], for every tensor of the list: p is 1 or 2. Each core adds up its part of each tensor and leaves the
# sum in `parts`, 8 floats apart; then core t of the cores adds up the parts of tensor t.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_norm_kernel(x, y, parts, p, cores, per_core, tile):
    pid = tl.program_id(0)
    start = pid * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(8, dtype=tl.float32)
    parts_ub = tl.alloc_ub(cores * 8, dtype=tl.float32)
    y_ub = tl.alloc_ub(8, dtype=tl.float32)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        with tl.compute():
            tl.duplicate(sum_ub, 0.0)
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x[t] + offsets, x_ub, mask=offsets < end, other=0.0)
            with tl.compute():
                if p == 1:
                    tl.vabs(shared_ub, x_ub)
                else:
                    tl.vmul(shared_ub, x_ub, x_ub)
                tl.vadd(sum_ub, sum_ub, shared_ub)
        with tl.compute():
            tl.duplicate(part_ub, 0.0)
            tl.reduce_sum(part_ub, sum_ub, shared_ub)
        with tl.copyout():
            tl.store(parts + (t * cores + pid) * 8, part_ub)
        begin += tl.cdiv(x[t].numel(), 64) * 64
    tl.sync_all()
    for t in range(pid, len(x), cores):
        with tl.copyin():
            tl.load(parts + t * cores * 8, parts_ub)
        with tl.compute():
            tl.reduce_sum(y_ub, parts_ub, shared_ub, count=cores * 8)
            if p == 2:
                tl.vsqrt(y_ub, y_ub, count=1)
        with tl.copyout():
            tl.store(y[t], y_ub, count=1)


def foreach_norm_host(
    x: list[torch.Tensor],
    scalar: int | float,
    y: list[torch.Tensor],
    tile: tl.constexpr = 2048,
):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    cores = min(tl.num_vec_cores(), max(tl.cdiv(total, 16384), 1))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    parts = torch.empty(len(x) * cores * 8, dtype=tl.float32)
    foreach_norm_kernel[cores](x, y, parts, scalar, cores, per_core, tile)
