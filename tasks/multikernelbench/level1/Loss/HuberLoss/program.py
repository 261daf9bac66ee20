import tile.language as tl


# loss = the mean over all elements of c * (|d| - 0.5 * c) with d = predictions - targets and c =
# min(|d|, 1): 0.5 * d^2 up to 1, |d| - 0.5 from there on. Cores add up shares, all wait, and core
# 0 adds up their sums: the same for any number of cores.
@ascend_kernel
def huber_loss_kernel(predictions, targets, loss, sums, shares, total, tile):
    per_share = tl.cdiv(total, shares)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(max(tile, shares * 8), dtype=tl.float32)
    part_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(shares * 8, dtype=tl.float32)
    for share in range(tl.program_id(0), shares, tl.num_programs(0)):
        start = share * per_share
        end = min(start + per_share, total)
        with tl.compute():
            tl.duplicate(sum_ub, 0.0)
            tl.duplicate(part_ub, 0.0)
        for at in range(start, end, tile):
            n = min(tile, end - at)
            with tl.copyin():
                tl.load(predictions + at, a_ub, count=n)
                tl.load(targets + at, b_ub, count=n)
            with tl.compute():
                tl.vsub(a_ub, a_ub, b_ub, count=n)
                tl.vabs(a_ub, a_ub, count=n)
                tl.vmin(b_ub, a_ub, 1.0, count=n)
                tl.vmul_scalar(c_ub, b_ub, 0.5, count=n)
                tl.vsub(a_ub, a_ub, c_ub, count=n)
                tl.vmul(a_ub, a_ub, b_ub, count=n)
                tl.vadd(sum_ub, sum_ub, a_ub, count=n)
        with tl.compute():
            tl.reduce_sum(part_ub, sum_ub, work_ub)
        with tl.copyout():
            tl.store(sums + share * 8, part_ub)
    tl.sync_all()
    if tl.program_id(0) == 0:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.reduce_sum(part_ub, sums_ub, work_ub)
            tl.vmul_scalar(part_ub, part_ub, 1.0 / total, count=1)
        with tl.copyout():
            tl.store(loss, part_ub, count=1)


def huber_loss_host(predictions, targets, loss, tile: tl.constexpr = 1024):
    total = predictions.numel()
    if total == 0:
        return
    shares = min(48, tl.cdiv(total, 512))
    sums = torch.empty(shares * 8, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), shares)
    huber_loss_kernel[cores](predictions, targets, loss, sums, shares, total, tile)
