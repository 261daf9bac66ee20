import tile.language as tl


# d = (predict - label)^2. y = d, or the sum of all d times `factor`: each core adds up its share,
# all wait, and core 0 adds up the sums of all cores.
@ascend_kernel
def mse_loss_kernel(predict, label, y, sums, total, tile, factor):
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    per_core = tl.cdiv(total, cores)
    start = pid * per_core
    end = min(start + per_core, total)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(max(tile, cores * 8), dtype=tl.float32)
    part_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(cores * 8, dtype=tl.float32)
    if factor == 0.0:
        for at in range(start, end, tile):
            n = min(tile, end - at)
            with tl.copyin():
                tl.load(predict + at, a_ub, count=n)
                tl.load(label + at, b_ub, count=n)
            with tl.compute():
                tl.vsub(a_ub, a_ub, b_ub, count=n)
                tl.vmul(y_ub, a_ub, a_ub, count=n)
            with tl.copyout():
                tl.store(y + at, y_ub, count=n)
        return
    with tl.compute():
        tl.duplicate(sum_ub, 0.0)
        tl.duplicate(part_ub, 0.0)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(predict + at, a_ub, count=n)
            tl.load(label + at, b_ub, count=n)
        with tl.compute():
            tl.vsub(a_ub, a_ub, b_ub, count=n)
            tl.vmul(a_ub, a_ub, a_ub, count=n)
            tl.vadd(sum_ub, sum_ub, a_ub, count=n)
    with tl.compute():
        tl.reduce_sum(part_ub, sum_ub, work_ub)
    with tl.copyout():
        tl.store(sums + pid * 8, part_ub)
    tl.sync_all()
    if pid == 0:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.reduce_sum(part_ub, sums_ub, work_ub)
            tl.vmul_scalar(part_ub, part_ub, factor, count=1)
        with tl.copyout():
            tl.store(y, part_ub, count=1)


def mse_loss_host(predict, label, y, reduction: str = "mean", tile: tl.constexpr = 4096):
    total = predict.numel()
    if total == 0:
        return
    factor = 0.0
    if reduction == "sum":
        factor = 1.0
    elif reduction == "mean":
        factor = 1.0 / total
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    sums = torch.empty(cores * 8, dtype=tl.float32)
    mse_loss_kernel[cores](predict, label, y, sums, total, tile, factor)
