import tile.language as tl


# y = x / sqrt(sum(x^2)) over the rows of a matrix. Rows that fit into a tile come many at once,
# longer ones in pieces, twice.
@ascend_kernel
def l2_norm_kernel(x, y, rows, cols, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=3)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=3)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    if piece == cols:
        for row in range(first, last, step):
            n = min(step, last - row)
            with tl.copyin():
                tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
            with tl.compute():
                tl.vmul(y_ub, x_ub, x_ub, count=n * pitch)
                tl.row_sum(sum_ub, y_ub, n, cols, pitch)
                tl.vsqrt(sum_ub, sum_ub, count=n)
                tl.vdiv_col(y_ub, x_ub, sum_ub, n, cols, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
    else:
        for row in range(first, last):
            with tl.compute():
                tl.duplicate(sum_ub, 0.0)
            for at in range(row * cols, (row + 1) * cols, piece):
                n = min(piece, (row + 1) * cols - at)
                with tl.copyin():
                    tl.load(x + at, x_ub, count=n)
                with tl.compute():
                    tl.vmul(x_ub, x_ub, x_ub, count=n)
                    tl.vadd(sum_ub, sum_ub, x_ub, count=n)
            with tl.compute():
                tl.reduce_sum(work_ub, sum_ub, work_ub)
                sum = tl.extract_scalar(work_ub, 0)
            for at in range(row * cols, (row + 1) * cols, piece):
                n = min(piece, (row + 1) * cols - at)
                with tl.copyin():
                    tl.load(x + at, x_ub, count=n)
                with tl.compute():
                    tl.vdiv_scalar(y_ub, x_ub, tl.sqrt(sum), count=n)
                with tl.copyout():
                    tl.store(y + at, y_ub, count=n)


def l2_norm_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 1536):
    rows, cols = x.shape
    if rows * cols == 0:
        return
    cores = min(tl.num_vec_cores(), rows)
    l2_norm_kernel[cores](x, y, rows, cols, tl.cdiv(rows, cores), tile)
