import tile.language as tl


# x_grad = (exp(log_prob) - [column is t]) * g + h with g = grad_loss * (1 - soft) * weight[t] and
# h = grad_loss * soft / classes, t the row's class; both are 0 where t is ignored, and for
# reduction "mean" divided by the sum of weight[t] over all rows that count, plus 1e-12. First
# each core finds weight[t] of its rows and adds them up, all wait; then come the rows, short ones
# many at once, long ones in pieces.
@ascend_kernel
def grad_kernel(grad, log_p, target, weight, y, owns, sums, tile, how, skip, soft, weighted):
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    rows, cols = log_p.shape
    per_core = tl.cdiv(rows, cores)
    first = pid * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    own_share, other_share = 1.0 - soft, soft / cols
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mask_ub = tl.alloc_ub(tile, dtype=tl.bool)
    column_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    class_ub = tl.alloc_ub(tile // 16, dtype=tl.int64)
    target_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    shift_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    inside_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    counts_ub = tl.alloc_ub(tile // 16, dtype=tl.bool)
    t_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    h_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    own_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    all_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sums_ub = tl.alloc_ub(8 * cores, dtype=tl.float32)
    part_ub = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(weight_ub, 1.0)
        tl.duplicate(all_ub, 0.0)
        tl.duplicate(part_ub, 0.0)
        tl.iota(column_ub, 0.0)
    for row in range(first, last, tile // 16):
        n = min(tile // 16, last - row)
        with tl.copyin():
            tl.load(target + row, class_ub, count=n)
        with tl.compute():
            tl.cast(target_ub, class_ub, count=n)
            tl.duplicate(own_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            if weighted:
                with tl.copyin():
                    tl.load(weight + at, weight_ub, count=m)
            with tl.compute():
                tl.vsub(shift_ub, target_ub, at, count=n)
                tl.vmax(inside_ub, shift_ub, 0, count=n)
                tl.vmin(inside_ub, inside_ub, m - 1, count=n)
                tl.veq(counts_ub, shift_ub, inside_ub, count=n)
                tl.vmul(inside_ub, inside_ub, 4, count=n)
                tl.gather(g_ub, weight_ub, inside_ub, 0, count=n)
                tl.vselect(own_ub, counts_ub, g_ub, own_ub, count=n)
        with tl.compute():
            if skip >= 0:
                tl.vne(counts_ub, target_ub, skip, count=n)
                tl.vselect(own_ub, counts_ub, own_ub, 0.0, count=n)
            tl.vadd(all_ub, all_ub, own_ub, count=n)
        with tl.copyout():
            tl.store(owns + row, own_ub, count=n)
    with tl.compute():
        tl.reduce_sum(part_ub, all_ub, work_ub)
    with tl.copyout():
        tl.store(sums + 8 * pid, part_ub)
    tl.sync_all()
    total = 1.0
    if how == 2:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.reduce_sum(part_ub, sums_ub, work_ub)
            total = tl.extract_scalar(part_ub, 0) + 1e-12
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load(target + row, class_ub, count=n)
            tl.load(owns + row, own_ub, count=n)
            if how == 0:
                tl.load(grad + row, g_ub, count=n)
        with tl.compute():
            if how > 0:
                tl.duplicate(g_ub, tl.extract_scalar(grad, 0), count=n)
            tl.cast(target_ub, class_ub, count=n)
            tl.cast(t_ub, target_ub, count=n)
            tl.vdiv_scalar(g_ub, g_ub, total, count=n)
            tl.vmul_scalar(h_ub, g_ub, other_share, count=n)
            if skip >= 0:
                tl.vne(counts_ub, target_ub, skip, count=n)
                tl.vselect(h_ub, counts_ub, h_ub, 0.0, count=n)
            tl.vmul_scalar(g_ub, g_ub, own_share, count=n)
            tl.vmul(g_ub, g_ub, own_ub, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            with tl.copyin():
                tl.load_rows(log_p + row * cols + at, x_ub, n, m, cols, pitch)
            with tl.compute():
                tl.broadcast_col(work_ub, t_ub, n, m, pitch)
                tl.vsub_row(work_ub, work_ub, column_ub, n, m, pitch)
                tl.veq(mask_ub, work_ub, at, count=n * pitch)
                tl.vselect(work_ub, mask_ub, 1.0, 0.0, count=n * pitch)
                tl.vexp(x_ub, x_ub, count=n * pitch)
                tl.vsub(x_ub, x_ub, work_ub, count=n * pitch)
                tl.vmul_col(x_ub, x_ub, g_ub, n, m, pitch)
                tl.vadd_col(y_ub, x_ub, h_ub, n, m, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols + at, y_ub, n, m, cols, pitch)


def grad_host(
    grad: torch.Tensor,
    log_p: torch.Tensor,
    target: torch.Tensor,
    x_grad: torch.Tensor,
    weight: torch.Tensor = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    tile: tl.constexpr = 3072,
):
    if log_p.numel() == 0:
        return
    how = 0
    if reduction == "sum":
        how = 1
    elif reduction == "mean":
        how = 2
    cores = min(tl.num_vec_cores(), log_p.shape[0])
    owns = torch.empty(log_p.shape[0], dtype=tl.float32)
    sums = torch.empty(8 * cores, dtype=tl.float32)
    w = weight is not None
    skip, soft = ignore_index, label_smoothing
    grad_kernel[cores](grad, log_p, target, weight, x_grad, owns, sums, tile, how, skip, soft, w)
