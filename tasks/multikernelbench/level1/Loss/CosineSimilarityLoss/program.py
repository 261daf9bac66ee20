import tile.language as tl


# loss = the mean over the rows of 1 - p t / (max(|p|, 1e-8) * max(|t|, 1e-8)), p a row of
# predictions and t one of targets. Short rows come many at once, long ones in pieces. Cores add up
# shares of rows, all wait, and core 0 adds up their sums: the same for any number of cores.
@ascend_kernel
def cosine_similarity_loss_kernel(predictions, targets, loss, sums, shares, tile):
    rows, cols = predictions.shape
    per_share = tl.cdiv(rows, shares)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    p_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(max(tile, shares * 8), dtype=tl.float32)
    pt_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    pp_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    tt_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
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
                tl.duplicate(pt_ub, 0.0, count=n)
                tl.duplicate(pp_ub, 0.0, count=n)
                tl.duplicate(tt_ub, 0.0, count=n)
            for at in range(0, cols, piece):
                m = min(piece, cols - at)
                with tl.copyin():
                    tl.load_rows(predictions + row * cols + at, p_ub, n, m, cols, pitch)
                    tl.load_rows(targets + row * cols + at, t_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vmul(work_ub, p_ub, t_ub, count=n * pitch)
                    tl.row_sum(part_ub, work_ub, n, m, pitch)
                    tl.vadd(pt_ub, pt_ub, part_ub, count=n)
                    tl.vmul(p_ub, p_ub, p_ub, count=n * pitch)
                    tl.row_sum(part_ub, p_ub, n, m, pitch)
                    tl.vadd(pp_ub, pp_ub, part_ub, count=n)
                    tl.vmul(t_ub, t_ub, t_ub, count=n * pitch)
                    tl.row_sum(part_ub, t_ub, n, m, pitch)
                    tl.vadd(tt_ub, tt_ub, part_ub, count=n)
            with tl.compute():
                tl.vsqrt(pp_ub, pp_ub, count=n)
                tl.vmax(pp_ub, pp_ub, 1e-8, count=n)
                tl.vsqrt(tt_ub, tt_ub, count=n)
                tl.vmax(tt_ub, tt_ub, 1e-8, count=n)
                tl.vdiv(pt_ub, pt_ub, pp_ub, count=n)
                tl.vdiv(pt_ub, pt_ub, tt_ub, count=n)
                tl.vsub(loss_ub, loss_ub, pt_ub, count=n)
                tl.vadd_scalar(loss_ub, loss_ub, 1.0, count=n)
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


def cosine_similarity_loss_host(predictions, targets, loss, tile: tl.constexpr = 4096):
    rows, cols = predictions.shape
    if rows * cols == 0:
        return
    shares = min(48, rows)
    sums = torch.empty(shares * 8, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), shares)
    cosine_similarity_loss_kernel[cores](predictions, targets, loss, sums, shares, tile)
