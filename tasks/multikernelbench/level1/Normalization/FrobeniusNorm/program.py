import tile.language as tl


# y = x / sqrt(sum(x^2)), the sum over the whole tensor: cores add up the squares of shares, all
# wait, and each adds up the sums of all shares: the same for any number of cores.
@ascend_kernel
def frobenius_norm_kernel(x, y, sums, shares, total, per_share, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
                tl.load(x + at, x_ub, count=n)
            with tl.compute():
                tl.vmul(x_ub, x_ub, x_ub, count=n)
                tl.vadd(sum_ub, sum_ub, x_ub, count=n)
        with tl.compute():
            tl.reduce_sum(part_ub, sum_ub, work_ub)
        with tl.copyout():
            tl.store(sums + share * 8, part_ub)
    tl.sync_all()
    with tl.copyin():
        tl.load(sums, sums_ub)
    with tl.compute():
        tl.reduce_sum(part_ub, sums_ub, work_ub)
        norm = tl.sqrt(tl.extract_scalar(part_ub, 0))
    for share in range(tl.program_id(0), shares, tl.num_programs(0)):
        start = share * per_share
        end = min(start + per_share, total)
        for at in range(start, end, tile):
            n = min(tile, end - at)
            with tl.copyin():
                tl.load(x + at, x_ub, count=n)
            with tl.compute():
                tl.vdiv_scalar(y_ub, x_ub, norm, count=n)
            with tl.copyout():
                tl.store(y + at, y_ub, count=n)


def frobenius_norm_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x.numel()
    if total == 0:
        return
    shares = min(48, tl.cdiv(total, 512))
    cores = min(tl.num_vec_cores(), shares)
    per_share = tl.cdiv(total, shares)
    sums = torch.empty(shares * 8, dtype=tl.float32)
    frobenius_norm_kernel[cores](x, y, sums, shares, total, per_share, tile)
