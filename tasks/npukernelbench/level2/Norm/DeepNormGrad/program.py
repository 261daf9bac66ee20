import tile.language as tl


# Gradient of a layer norm of alpha * x + gx. With c = alpha * x + gx - mean and g = dy * gamma:
# dgx = g * rstd - sum(g * c) * rstd^3 / D * c - sum(g) * rstd / D, sums over a row, dx = alpha *
# dgx, dgamma = sum(dy * c * rstd) and dbeta = sum(dy) over all rows. A core's share are rows,
# then a strip of columns. Rows that fit into a tile come many at once, longer ones in pieces,
# twice.
@ascend_kernel
def norm_grad_kernel(dy, x, gx, gamma, mean, rstd, dx, dgx, dbeta, dgamma, tile, alpha):
    cols = gamma.numel()
    rows = dy.numel() // cols
    per_core = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    dy_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    gx_ub = tl.alloc_ub(tile, dtype=tl.float32)
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    dx_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    gc_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    gs_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    dgamma_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    dbeta_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load(rstd + row, rstd_ub, count=n)
            tl.load(mean + row, mean_ub, count=n)
        with tl.compute():
            tl.duplicate(gc_ub, 0.0, count=n)
            tl.duplicate(gs_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            with tl.copyin():
                tl.load_rows(dy + place, dy_ub, n, m, cols, pitch)
                tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                tl.load_rows(gx + place, gx_ub, n, m, cols, pitch)
                tl.load(gamma + at, gamma_ub, count=m)
            with tl.compute():
                tl.vmul_scalar(c_ub, x_ub, alpha, count=n * pitch)
                tl.vadd(c_ub, c_ub, gx_ub, count=n * pitch)
                tl.vsub_col(c_ub, c_ub, mean_ub, n, m, pitch)
                tl.vmul_row(g_ub, dy_ub, gamma_ub, n, m, pitch)
                tl.vmul(work_ub, g_ub, c_ub, count=n * pitch)
                tl.row_sum(part_ub, work_ub, n, m, pitch)
                tl.vadd(gc_ub, gc_ub, part_ub, count=n)
                tl.row_sum(part_ub, g_ub, n, m, pitch)
                tl.vadd(gs_ub, gs_ub, part_ub, count=n)
        with tl.compute():
            tl.vmul(part_ub, rstd_ub, rstd_ub, count=n)
            tl.vmul(part_ub, part_ub, rstd_ub, count=n)
            tl.vmul(gc_ub, gc_ub, part_ub, count=n)
            tl.vmul_scalar(gc_ub, gc_ub, -1.0 / cols, count=n)
            tl.vmul(gs_ub, gs_ub, rstd_ub, count=n)
            tl.vmul_scalar(gs_ub, gs_ub, -1.0 / cols, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(dy + place, dy_ub, n, m, cols, pitch)
                    tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                    tl.load_rows(gx + place, gx_ub, n, m, cols, pitch)
                    tl.load(gamma + at, gamma_ub, count=m)
                with tl.compute():
                    tl.vmul_scalar(c_ub, x_ub, alpha, count=n * pitch)
                    tl.vadd(c_ub, c_ub, gx_ub, count=n * pitch)
                    tl.vsub_col(c_ub, c_ub, mean_ub, n, m, pitch)
                    tl.vmul_row(g_ub, dy_ub, gamma_ub, n, m, pitch)
            with tl.compute():
                tl.vmul_col(c_ub, c_ub, gc_ub, n, m, pitch)
                tl.vmul_col(g_ub, g_ub, rstd_ub, n, m, pitch)
                tl.vadd(dx_ub, g_ub, c_ub, count=n * pitch)
                tl.vadd_col(dx_ub, dx_ub, gs_ub, n, m, pitch)
                tl.vmul_scalar(work_ub, dx_ub, alpha, count=n * pitch)
            with tl.copyout():
                tl.store_rows(dgx + place, dx_ub, n, m, cols, pitch)
                tl.store_rows(dx + place, work_ub, n, m, cols, pitch)
    strip = min(tl.pitch(tl.cdiv(cols, tl.num_programs(0))), tile // 256 * 16)
    step = tile // strip
    for at in range(tl.program_id(0) * strip, cols, tl.num_programs(0) * strip):
        m = min(strip, cols - at)
        with tl.compute():
            tl.duplicate(dgamma_ub, 0.0, count=m)
            tl.duplicate(dbeta_ub, 0.0, count=m)
        for row in range(0, rows, step):
            n = min(step, rows - row)
            with tl.copyin():
                tl.load_rows(dy + row * cols + at, dy_ub, n, m, cols, strip)
                tl.load_rows(x + row * cols + at, x_ub, n, m, cols, strip)
                tl.load_rows(gx + row * cols + at, gx_ub, n, m, cols, strip)
                tl.load(rstd + row, rstd_ub, count=n)
                tl.load(mean + row, mean_ub, count=n)
            with tl.compute():
                tl.vmul_scalar(c_ub, x_ub, alpha, count=n * strip)
                tl.vadd(c_ub, c_ub, gx_ub, count=n * strip)
                tl.vsub_col(c_ub, c_ub, mean_ub, n, m, strip)
                tl.vmul(c_ub, c_ub, dy_ub, count=n * strip)
                tl.vmul_col(c_ub, c_ub, rstd_ub, n, m, strip)
                tl.col_sum(part_ub, c_ub, n, m, strip)
                tl.vadd(dgamma_ub, dgamma_ub, part_ub, count=m)
                tl.col_sum(part_ub, dy_ub, n, m, strip)
                tl.vadd(dbeta_ub, dbeta_ub, part_ub, count=m)
        with tl.copyout():
            tl.store(dgamma + at, dgamma_ub, count=m)
            tl.store(dbeta + at, dbeta_ub, count=m)


def norm_grad_host(
    dy: torch.Tensor,
    x: torch.Tensor,
    gx: torch.Tensor,
    gamma: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    dx: torch.Tensor,
    dgx: torch.Tensor,
    dbeta: torch.Tensor,
    dgamma: torch.Tensor,
    alpha: float = 0.3,
    tile: tl.constexpr = 3072,
):
    if dy.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), max(rstd.numel(), tl.cdiv(gamma.numel(), 16)))
    norm_grad_kernel[cores](dy, x, gx, gamma, mean, rstd, dx, dgx, dbeta, dgamma, tile, alpha)
