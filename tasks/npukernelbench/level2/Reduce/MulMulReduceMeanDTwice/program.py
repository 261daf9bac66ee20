import tile.language as tl


# output = gamma / sqrt(v + add) * (m - u) + beta with m = a * b * factor, u the mean and v the
# variance of a row of m; add and factor are tensors of one element. Rows that fit into a tile
# come many at once, longer ones in pieces, twice. Each piece's mean and squares join those of the
# pieces before.
@ascend_kernel
def norm_kernel(a, b, factor, add, gamma, beta, output, tile):
    rows, cols = a.shape
    scale, epsilon = tl.extract_scalar(factor, 0), tl.extract_scalar(add, 0)
    per_core = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
                tl.load_rows(a + place, a_ub, n, m, cols, pitch)
                tl.load_rows(b + place, b_ub, n, m, cols, pitch)
            with tl.compute():
                tl.vmul(a_ub, a_ub, b_ub, count=n * pitch)
                tl.vmul_scalar(a_ub, a_ub, scale, count=n * pitch)
                tl.row_sum(shift_ub, a_ub, n, m, pitch)
                tl.vmul_scalar(shift_ub, shift_ub, 1.0 / m, count=n)
                tl.vsub_col(work_ub, a_ub, shift_ub, n, m, pitch)
                tl.vmul(a_ub, work_ub, work_ub, count=n * pitch)
                tl.row_sum(part_ub, a_ub, n, m, pitch)
                tl.vadd(squares_ub, squares_ub, part_ub, count=n)
                tl.vsub(shift_ub, shift_ub, mean_ub, count=n)
                tl.vaxpy(mean_ub, shift_ub, m / (at + m), count=n)
                tl.vmul(shift_ub, shift_ub, shift_ub, count=n)
                tl.vaxpy(squares_ub, shift_ub, m / (at + m) * at, count=n)
        with tl.compute():
            tl.vmul_scalar(squares_ub, squares_ub, 1.0 / cols, count=n)
            tl.vadd_scalar(squares_ub, squares_ub, epsilon, count=n)
            tl.vrsqrt(squares_ub, squares_ub, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(a + place, a_ub, n, m, cols, pitch)
                    tl.load_rows(b + place, b_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vmul(a_ub, a_ub, b_ub, count=n * pitch)
                    tl.vmul_scalar(a_ub, a_ub, scale, count=n * pitch)
                    tl.vsub_col(work_ub, a_ub, mean_ub, n, m, pitch)
            if piece < cols or row == first:
                with tl.copyin():
                    tl.load(gamma + at, gamma_ub, count=m)
                    tl.load(beta + at, beta_ub, count=m)
            with tl.compute():
                tl.vmul_col(work_ub, work_ub, squares_ub, n, m, pitch)
                tl.vmul_row(y_ub, work_ub, gamma_ub, n, m, pitch)
                tl.vadd_row(y_ub, y_ub, beta_ub, n, m, pitch)
            with tl.copyout():
                tl.store_rows(output + place, y_ub, n, m, cols, pitch)


def norm_host(a, b, factor, add, gamma, beta, output, tile: tl.constexpr = 5120):
    if output.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), a.shape[0])
    norm_kernel[cores](a, b, factor, add, gamma, beta, output, tile)
