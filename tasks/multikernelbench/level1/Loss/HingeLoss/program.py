import tile.language as tl


# loss = the mean of max(0, 1 - predictions * targets) over all elements. Cores add up shares, all
# wait, and core 0 adds up their sums: the same for any number of cores.
@ascend_kernel
def hinge_loss_kernel(predictions, targets, loss, sums, shares, total, tile):
    per_share = tl.cdiv(total, shares)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
                tl.vmul(a_ub, a_ub, b_ub, count=n)
                tl.vmul_scalar(a_ub, a_ub, -1.0, count=n)
                tl.vadd_scalar(a_ub, a_ub, 1.0, count=n)
                tl.vrelu(a_ub, a_ub, count=n)
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


def hinge_loss_host(predictions, targets, loss, tile: tl.constexpr = 512):
    total = predictions.numel()
    if total == 0:
        return
    shares = min(48, tl.cdiv(total, 512))
    sums = torch.empty(shares * 8, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), shares)
    hinge_loss_kernel[cores](predictions, targets, loss, sums, shares, total, tile)
