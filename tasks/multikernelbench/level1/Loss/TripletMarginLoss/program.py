import tile.language as tl


# loss = the mean over the rows of max(0, margin + d(anchor, positive) - d(anchor, negative)), d(u,
# v) the square root of the sum of (u - v + 1e-6)^2. Short rows come many at once, long ones in
# pieces. Cores add up shares of rows, all wait, and core 0 adds up their sums: the same for any
# number of cores.
@ascend_kernel
def triplet_margin_loss_kernel(anchor, positive, negative, loss, sums, shares, tile, margin):
    rows, cols = anchor.shape
    per_share = tl.cdiv(rows, shares)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    p_ub = tl.alloc_ub(tile, dtype=tl.float32)
    n_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(max(tile, shares * 8), dtype=tl.float32)
    near_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    far_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    loss_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    all_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(shares * 8, dtype=tl.float32)
    for share in range(tl.program_id(0), shares, tl.num_programs(0)):
        first = share * per_share
        last = min(first + per_share, rows)
        with tl.compute():
            tl.duplicate(loss_ub, 0.0)
            tl.duplicate(all_ub, 0.0)
        for row in range(first, last, step):
            n = min(step, last - row)
            with tl.compute():
                tl.duplicate(near_ub, 0.0, count=n)
                tl.duplicate(far_ub, 0.0, count=n)
            for at in range(0, cols, piece):
                m = min(piece, cols - at)
                with tl.copyin():
                    tl.load_rows(anchor + row * cols + at, a_ub, n, m, cols, pitch)
                    tl.load_rows(positive + row * cols + at, p_ub, n, m, cols, pitch)
                    tl.load_rows(negative + row * cols + at, n_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vadd_scalar(a_ub, a_ub, 1e-6, count=n * pitch)
                    tl.vsub(p_ub, a_ub, p_ub, count=n * pitch)
                    tl.vmul(p_ub, p_ub, p_ub, count=n * pitch)
                    tl.row_sum(part_ub, p_ub, n, m, pitch)
                    tl.vadd(near_ub, near_ub, part_ub, count=n)
                    tl.vsub(n_ub, a_ub, n_ub, count=n * pitch)
                    tl.vmul(n_ub, n_ub, n_ub, count=n * pitch)
                    tl.row_sum(part_ub, n_ub, n, m, pitch)
                    tl.vadd(far_ub, far_ub, part_ub, count=n)
            with tl.compute():
                tl.vsqrt(near_ub, near_ub, count=n)
                tl.vsqrt(far_ub, far_ub, count=n)
                tl.vsub(near_ub, near_ub, far_ub, count=n)
                tl.vadd_scalar(near_ub, near_ub, margin, count=n)
                tl.vrelu(near_ub, near_ub, count=n)
                tl.vadd(loss_ub, loss_ub, near_ub, count=n)
        with tl.compute():
            tl.reduce_sum(all_ub, loss_ub, work_ub)
        with tl.copyout():
            tl.store(sums + share * 8, all_ub)
    tl.sync_all()
    if tl.program_id(0) == 0:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.reduce_sum(all_ub, sums_ub, work_ub)
            tl.vmul_scalar(all_ub, all_ub, 1.0 / rows, count=1)
        with tl.copyout():
            tl.store(loss, all_ub, count=1)


def triplet_margin_loss_host(
    anchor: torch.Tensor,
    positive: torch.Tensor,
    negative: torch.Tensor,
    loss: torch.Tensor,
    margin: float = 1.0,
    tile: tl.constexpr = 2048,
):
    rows, cols = anchor.shape
    if rows * cols == 0:
        return
    shares = min(48, rows)
    sums = torch.empty(shares * 8, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), shares)
    triplet_margin_loss_kernel[cores](
        anchor,
        positive,
        negative,
        loss,
        sums,
        shares,
        tile,
        margin,
    )
