import tile.language as tl


# y = (x - mean) * rstd * gamma + beta, mean and rstd = 1 / sqrt(variance + epsilon) over the last
# dimensions; gamma and beta may be missing. Rows that fit into a tile come many at once, longer
# ones in pieces, twice. Each piece's mean and squares join those of the pieces before.
@ascend_kernel
def norm_kernel(x, gamma, beta, y, mean, rstd, tile, epsilon, scaled, shifted):
    rows, cols = mean.numel(), x.numel() // mean.numel()
    per_core = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    beta_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    shift_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.compute():
            tl.duplicate(mean_ub, 0.0, count=n)
            tl.duplicate(squares_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            with tl.copyin():
                tl.load_rows(x + place, x_ub, n, m, cols, pitch)
            with tl.compute():
                tl.row_sum(shift_ub, x_ub, n, m, pitch)
                tl.vmul_scalar(shift_ub, shift_ub, 1.0 / m, count=n)
                tl.vsub_col(work_ub, x_ub, shift_ub, n, m, pitch)
                tl.vmul(x_ub, work_ub, work_ub, count=n * pitch)
                tl.row_sum(part_ub, x_ub, n, m, pitch)
                tl.vadd(squares_ub, squares_ub, part_ub, count=n)
                tl.vsub(shift_ub, shift_ub, mean_ub, count=n)
                tl.vaxpy(mean_ub, shift_ub, m / (at + m), count=n)
                tl.vmul(shift_ub, shift_ub, shift_ub, count=n)
                tl.vaxpy(squares_ub, shift_ub, m / (at + m) * at, count=n)
        with tl.compute():
            tl.vmul_scalar(squares_ub, squares_ub, 1.0 / cols, count=n)
            tl.vadd_scalar(squares_ub, squares_ub, epsilon, count=n)
            tl.vrsqrt(squares_ub, squares_ub, count=n)
        with tl.copyout():
            tl.store(mean + row, mean_ub, count=n)
            tl.store(rstd + row, squares_ub, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(x + place, x_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vsub_col(work_ub, x_ub, mean_ub, n, m, pitch)
            if piece < cols or row == first:
                with tl.copyin():
                    if scaled:
                        tl.load(gamma + at, gamma_ub, count=m)
                    if shifted:
                        tl.load(beta + at, beta_ub, count=m)
            with tl.compute():
                tl.vmul_col(work_ub, work_ub, squares_ub, n, m, pitch)
                if scaled:
                    tl.vmul_row(work_ub, work_ub, gamma_ub, n, m, pitch)
                if shifted:
                    tl.vadd_row(work_ub, work_ub, beta_ub, n, m, pitch)
                tl.vadd_scalar(y_ub, work_ub, 0.0, count=n * pitch)
            with tl.copyout():
                tl.store_rows(y + place, y_ub, n, m, cols, pitch)


def norm_host(
    x: torch.Tensor,
    y: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    gamma: torch.Tensor = None,
    beta: torch.Tensor = None,
    epsilon: float = 1e-5,
    tile: tl.constexpr = 4608,
):
    if x.numel() == 0:
        return
    scaled, shifted = gamma is not None, beta is not None
    cores = min(tl.num_vec_cores(), mean.numel())
    norm_kernel[cores](x, gamma, beta, y, mean, rstd, tile, epsilon, scaled, shifted)
