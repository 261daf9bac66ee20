import tile.language as tl


# y = x * rstd * gamma with rstd = 1 / sqrt(mean(x^2) + epsilon), the mean over the last
# dimension. Rows that fit into a tile come many at once, longer ones in pieces, twice.
@ascend_kernel
def rms_norm_kernel(x, gamma, y, rstd, rows, cols, per_core, tile, epsilon):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    if piece == cols:
        with tl.copyin():
            tl.load(gamma, gamma_ub, count=cols)
        for row in range(first, last, step):
            n = min(step, last - row)
            with tl.copyin():
                tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
            with tl.compute():
                tl.vmul(y_ub, x_ub, x_ub, count=n * pitch)
                tl.row_sum(part_ub, y_ub, n, cols, pitch)
                tl.vmul_scalar(part_ub, part_ub, 1.0 / cols, count=n)
                tl.vadd_scalar(part_ub, part_ub, epsilon, count=n)
                tl.vrsqrt(rstd_ub, part_ub, count=n)
                tl.vmul_col(y_ub, x_ub, rstd_ub, n, cols, pitch)
                tl.vmul_row(y_ub, y_ub, gamma_ub, n, cols, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
                tl.store(rstd + row, rstd_ub, count=n)
    else:
        for row in range(first, last):
            with tl.compute():
                tl.duplicate(sum_ub, 0.0)
            for at in range(0, cols, piece):
                n = min(piece, cols - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                with tl.compute():
                    tl.vmul(x_ub, x_ub, x_ub, count=n)
                    tl.vadd(sum_ub, sum_ub, x_ub, count=n)
            with tl.compute():
                tl.reduce_sum(part_ub, sum_ub, work_ub)
                scale = 1.0 / tl.sqrt(tl.extract_scalar(part_ub, 0) / cols + epsilon)
                tl.duplicate(rstd_ub, scale, count=1)
            with tl.copyout():
                tl.store(rstd + row, rstd_ub, count=1)
            for at in range(0, cols, piece):
                n = min(piece, cols - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                    tl.load(gamma + at, gamma_ub, count=n)
                with tl.compute():
                    tl.vmul_scalar(y_ub, x_ub, scale, count=n)
                    tl.vmul(y_ub, y_ub, gamma_ub, count=n)
                with tl.copyout():
                    tl.store(y + row * cols + at, y_ub, count=n)


def rms_norm_host(x, gamma, y, rstd, epsilon: float = 1e-6, tile: tl.constexpr = 4096):
    cols = x.shape[-1]
    if x.numel() == 0:
        return
    rows = x.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    rms_norm_kernel[cores](x, gamma, y, rstd, rows, cols, tl.cdiv(rows, cores), tile, epsilon)
