import tile.language as tl


# y1 = x * rstd * gamma with x = x1 + x2 and rstd = 1 / sqrt(mean(x^2) + epsilon), the mean over
# the last dimension; y2 is y1 in the type of x1. Rows that fit into a tile come many at once,
# longer ones in pieces, twice.
@ascend_kernel
def norm_kernel(x1, x2, gamma, y1, y2, rstd, x, tile, epsilon):
    rows, cols = x1.numel() // gamma.numel(), gamma.numel()
    per_core = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.compute():
            tl.duplicate(rstd_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            with tl.copyin():
                tl.load_rows(x1 + place, a_ub, n, m, cols, pitch)
                tl.load_rows(x2 + place, b_ub, n, m, cols, pitch)
            with tl.compute():
                tl.vadd(x_ub, a_ub, b_ub, count=n * pitch)
                tl.vmul(a_ub, x_ub, x_ub, count=n * pitch)
                tl.row_sum(part_ub, a_ub, n, m, pitch)
                tl.vadd(rstd_ub, rstd_ub, part_ub, count=n)
            with tl.copyout():
                tl.store_rows(x + place, x_ub, n, m, cols, pitch)
        with tl.compute():
            tl.vmul_scalar(rstd_ub, rstd_ub, 1.0 / cols, count=n)
            tl.vadd_scalar(rstd_ub, rstd_ub, epsilon, count=n)
            tl.vrsqrt(rstd_ub, rstd_ub, count=n)
        with tl.copyout():
            tl.store(rstd + row, rstd_ub, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(x1 + place, a_ub, n, m, cols, pitch)
                    tl.load_rows(x2 + place, b_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vadd(x_ub, a_ub, b_ub, count=n * pitch)
            if piece < cols or row == first:
                with tl.copyin():
                    tl.load(gamma + at, gamma_ub, count=m)
            with tl.compute():
                tl.vmul_col(y_ub, x_ub, rstd_ub, n, m, pitch)
                tl.vmul_row(y_ub, y_ub, gamma_ub, n, m, pitch)
            with tl.copyout():
                tl.store_rows(y1 + place, y_ub, n, m, cols, pitch)
                tl.store_rows(y2 + place, y_ub, n, m, cols, pitch)


def norm_host(x1, x2, gamma, y1, y2, rstd, x, epsilon: float = 1e-6, tile: tl.constexpr = 4608):
    if x1.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), rstd.numel())
    norm_kernel[cores](x1, x2, gamma, y1, y2, rstd, x, tile, epsilon)
