import tile.language as tl


# Per row lse = max + log(sum(exp(input - max))), log_prob = input - lse, and of the class t: own
# = -log_prob[t] * weight[t], spread = -sum(log_prob * weight), both 0 where t is ignored. loss =
# (1 - soft) * own + soft / classes * spread: of each row, or of the sums over all rows, perhaps
# divided by that of weight[t]. Rows that fit into a tile come many at once, longer ones in
# pieces, twice: the sum goes along with the largest element so far. Each core adds up its rows,
# all wait, and core 0 adds up the sums of all cores.
@ascend_kernel
def loss_kernel(x, target, weight, loss, y, zloss, lse, sums, tile, how, skip, soft, z, w):
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    rows, cols = x.shape
    per_core = tl.cdiv(rows, cores)
    first = pid * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    spread_share = soft / cols
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    class_ub = tl.alloc_ub(tile // 16, dtype=tl.int64)
    target_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    column_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    inside_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    row_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    mask_ub = tl.alloc_ub(tile // 16, dtype=tl.bool)
    max_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    own_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    spread_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    count_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    all_ub = tl.alloc_ub(4 * (tile // 16), dtype=tl.float32)
    sums_ub = tl.alloc_ub(32 * cores, dtype=tl.float32)
    quarter = tile // 16
    with tl.compute():
        tl.duplicate(all_ub, 0.0)
        tl.duplicate(weight_ub, 1.0)
        tl.iota(row_ub, 0, step=4 * pitch)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load(target + row, class_ub, count=n)
        with tl.compute():
            tl.cast(target_ub, class_ub, count=n)
            tl.duplicate(max_ub, -3.0e38, count=n)
            tl.duplicate(sum_ub, 0.0, count=n)
            tl.duplicate(own_ub, 0.0, count=n)
            tl.duplicate(spread_ub, 0.0, count=n)
            tl.duplicate(count_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            with tl.copyin():
                tl.load_rows(x + row * cols + at, x_ub, n, m, cols, pitch)
            with tl.compute():
                tl.row_max(part_ub, x_ub, n, m, pitch)
                tl.vmax(part_ub, part_ub, max_ub, count=n)
                tl.vsub(max_ub, max_ub, part_ub, count=n)
                tl.vexp(max_ub, max_ub, count=n)
                tl.vmul(sum_ub, sum_ub, max_ub, count=n)
                tl.vsub_col(work_ub, x_ub, part_ub, n, m, pitch)
                tl.vexp(work_ub, work_ub, count=n * pitch)
                tl.row_sum(max_ub, work_ub, n, m, pitch)
                tl.vadd(sum_ub, sum_ub, max_ub, count=n)
                tl.vadd_scalar(max_ub, part_ub, 0.0, count=n)
        with tl.compute():
            tl.vln(sum_ub, sum_ub, count=n)
            tl.vadd(sum_ub, sum_ub, max_ub, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(x + row * cols + at, x_ub, n, m, cols, pitch)
            if w and (piece < cols or row == first):
                with tl.copyin():
                    tl.load(weight + at, weight_ub, count=m)
            with tl.compute():
                tl.vsub_col(y_ub, x_ub, sum_ub, n, m, pitch)
                tl.vmul_row(work_ub, y_ub, weight_ub, n, m, pitch)
                tl.row_sum(part_ub, work_ub, n, m, pitch)
                tl.vsub(spread_ub, spread_ub, part_ub, count=n)
                tl.vsub(column_ub, target_ub, at, count=n)
                tl.vmax(inside_ub, column_ub, 0, count=n)
                tl.vmin(inside_ub, inside_ub, m - 1, count=n)
                tl.veq(mask_ub, column_ub, inside_ub, count=n)
                tl.vmul(inside_ub, inside_ub, 4, count=n)
                tl.gather(part_ub, weight_ub, inside_ub, 0, count=n)
                tl.vselect(part_ub, mask_ub, part_ub, 0.0, count=n)
                tl.vadd(count_ub, count_ub, part_ub, count=n)
                tl.vadd(inside_ub, inside_ub, row_ub, count=n)
                tl.gather(part_ub, work_ub, inside_ub, 0, count=n)
                tl.vselect(part_ub, mask_ub, part_ub, 0.0, count=n)
                tl.vsub(own_ub, own_ub, part_ub, count=n)
            with tl.copyout():
                tl.store_rows(y + row * cols + at, y_ub, n, m, cols, pitch)
        with tl.compute():
            if skip >= 0:
                tl.vne(mask_ub, target_ub, skip, count=n)
                tl.vselect(own_ub, mask_ub, own_ub, 0.0, count=n)
                tl.vselect(spread_ub, mask_ub, spread_ub, 0.0, count=n)
                tl.vselect(count_ub, mask_ub, count_ub, 0.0, count=n)
            tl.vmul_scalar(own_ub, own_ub, 1.0 - soft, count=n)
            tl.vaxpy(own_ub, spread_ub, spread_share, count=n)
            tl.vadd(all_ub, all_ub, own_ub, count=n)
            tl.vadd(all_ub + quarter, all_ub + quarter, count_ub, count=n)
            tl.vmul(part_ub, sum_ub, sum_ub, count=n)
            tl.vadd(all_ub + 2 * quarter, all_ub + 2 * quarter, part_ub, count=n)
        with tl.copyout():
            if how == 0:
                tl.store(loss + row, own_ub, count=n)
            if z >= 0.0:
                tl.store(lse + row, sum_ub, count=n)
    with tl.compute():
        tl.duplicate(part_ub, 0.0, count=32)
        for i in range(3):
            tl.reduce_sum(part_ub + 8 * i, all_ub + i * quarter, work_ub, count=quarter)
    with tl.copyout():
        tl.store(sums + 32 * pid, part_ub, count=32)
    tl.sync_all()
    if pid == 0:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.col_sum(part_ub, sums_ub, cores, 32, 32)
            total = tl.extract_scalar(part_ub, 0)
            if how == 2:
                total = total / (tl.extract_scalar(part_ub, 8) + 1e-12)
            tl.duplicate(own_ub, total, count=1)
            tl.duplicate(max_ub, tl.extract_scalar(part_ub, 16) * z / rows, count=1)
        with tl.copyout():
            if how > 0:
                tl.store(loss, own_ub, count=1)
            if z >= 0.0:
                tl.store(zloss, max_ub, count=1)


def loss_host(
    x: torch.Tensor,
    target: torch.Tensor,
    loss: torch.Tensor,
    y: torch.Tensor,
    zloss: torch.Tensor,
    lse: torch.Tensor,
    weight=None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    lse_square_scale_for_zloss: float = 0.0,
    return_zloss: bool = False,
    tile: tl.constexpr = 4608,
):
    if x.numel() == 0:
        return
    how = 0
    if reduction == "sum":
        how = 1
    elif reduction == "mean":
        how = 2
    cores = min(tl.num_vec_cores(), x.shape[0])
    sum = torch.empty(32 * cores, dtype=tl.float32)
    skip, soft, w = ignore_index, label_smoothing, weight is not None
    z = lse_square_scale_for_zloss if return_zloss else -1.0
    loss_kernel[cores](x, target, weight, loss, y, zloss, lse, sum, tile, how, skip, soft, z, w)
