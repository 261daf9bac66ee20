import tile.language as tl


# Gradient of y = x * rstd * gamma: dx = g * rstd - sum(g * x) * rstd^3 / D * x with g = dy *
# gamma and the sum over a row, dgamma = sum(dy * x * rstd) over all rows. A core's share are
# rows, then a strip of columns. Rows that fit into a tile come many at once, longer ones in
# pieces, twice.
@ascend_kernel
def norm_grad_kernel(dy, x, rstd, gamma, dx, dgamma, tile):
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
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    dx_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    gc_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    dgamma_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load(rstd + row, rstd_ub, count=n)
        with tl.compute():
            tl.duplicate(gc_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            with tl.copyin():
                tl.load_rows(dy + place, dy_ub, n, m, cols, pitch)
                tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                tl.load(gamma + at, gamma_ub, count=m)
            with tl.compute():
                tl.vadd_scalar(c_ub, x_ub, 0.0, count=n * pitch)
                tl.vmul_row(g_ub, dy_ub, gamma_ub, n, m, pitch)
                tl.vmul(work_ub, g_ub, c_ub, count=n * pitch)
                tl.row_sum(part_ub, work_ub, n, m, pitch)
                tl.vadd(gc_ub, gc_ub, part_ub, count=n)
        with tl.compute():
            tl.vmul(part_ub, rstd_ub, rstd_ub, count=n)
            tl.vmul(part_ub, part_ub, rstd_ub, count=n)
            tl.vmul(gc_ub, gc_ub, part_ub, count=n)
            tl.vmul_scalar(gc_ub, gc_ub, -1.0 / cols, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(dy + place, dy_ub, n, m, cols, pitch)
                    tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                    tl.load(gamma + at, gamma_ub, count=m)
                with tl.compute():
                    tl.vadd_scalar(c_ub, x_ub, 0.0, count=n * pitch)
                    tl.vmul_row(g_ub, dy_ub, gamma_ub, n, m, pitch)
            with tl.compute():
                tl.vmul_col(c_ub, c_ub, gc_ub, n, m, pitch)
                tl.vmul_col(g_ub, g_ub, rstd_ub, n, m, pitch)
                tl.vadd(dx_ub, g_ub, c_ub, count=n * pitch)
            with tl.copyout():
                tl.store_rows(dx + place, dx_ub, n, m, cols, pitch)
    strip = min(tl.pitch(tl.cdiv(cols, tl.num_programs(0))), tile // 256 * 16)
    step = tile // strip
    for at in range(tl.program_id(0) * strip, cols, tl.num_programs(0) * strip):
        m = min(strip, cols - at)
        with tl.compute():
            tl.duplicate(dgamma_ub, 0.0, count=m)
        for row in range(0, rows, step):
            n = min(step, rows - row)
            with tl.copyin():
                tl.load_rows(dy + row * cols + at, dy_ub, n, m, cols, strip)
                tl.load_rows(x + row * cols + at, x_ub, n, m, cols, strip)
                tl.load(rstd + row, rstd_ub, count=n)
            with tl.compute():
                tl.vadd_scalar(c_ub, x_ub, 0.0, count=n * strip)
                tl.vmul(c_ub, c_ub, dy_ub, count=n * strip)
                tl.vmul_col(c_ub, c_ub, rstd_ub, n, m, strip)
                tl.col_sum(part_ub, c_ub, n, m, strip)
                tl.vadd(dgamma_ub, dgamma_ub, part_ub, count=m)
        with tl.copyout():
            tl.store(dgamma + at, dgamma_ub, count=m)


def norm_grad_host(dy, x, rstd, gamma, dx, dgamma, tile: tl.constexpr = 3072):
    if dy.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), max(rstd.numel(), tl.cdiv(gamma.numel(), 16)))
    norm_grad_kernel[cores](dy, x, rstd, gamma, dx, dgamma, tile)
