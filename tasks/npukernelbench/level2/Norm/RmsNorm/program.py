import tile.language as tl


# y = x * rstd * gamma with rstd = 1 / sqrt(mean(x^2) + epsilon), the mean over the last
# dimension. Rows that fit into a tile come many at once, longer ones in pieces, twice.
@ascend_kernel
def rms_norm_kernel(x, gamma, y, rstd, tile, epsilon):
    rows, cols = x.numel() // gamma.numel(), gamma.numel()
    per_core = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
                tl.load_rows(x + place, x_ub, n, m, cols, pitch)
            with tl.compute():
                tl.vadd_scalar(work_ub, x_ub, 0.0, count=n * pitch)
                tl.vmul(x_ub, work_ub, work_ub, count=n * pitch)
                tl.row_sum(part_ub, x_ub, n, m, pitch)
                tl.vadd(rstd_ub, rstd_ub, part_ub, count=n)
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
                    tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vadd_scalar(work_ub, x_ub, 0.0, count=n * pitch)
            if piece < cols or row == first:
                with tl.copyin():
                    tl.load(gamma + at, gamma_ub, count=m)
            with tl.compute():
                tl.vmul_col(y_ub, work_ub, rstd_ub, n, m, pitch)
                tl.vmul_row(y_ub, y_ub, gamma_ub, n, m, pitch)
            with tl.copyout():
                tl.store_rows(y + place, y_ub, n, m, cols, pitch)


def rms_norm_host(x, gamma, y, rstd, epsilon: float = 1e-6, tile: tl.constexpr = 4096):
    if x.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), rstd.numel())
    rms_norm_kernel[cores](x, gamma, y, rstd, tile, epsilon)
