import tile.language as tl


# y = exp(x - max) / sum(exp(x - max)) over the rows of a matrix, max the row's largest element.
# Rows that fit into a tile come many at once, longer ones in pieces, twice: the sum goes along
# with the largest element so far.
@ascend_kernel
def softmax_kernel(x, y, rows, cols, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    if piece == cols:
        for row in range(first, last, step):
            n = min(step, last - row)
            with tl.copyin():
                tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
            with tl.compute():
                tl.row_max(part_ub, x_ub, n, cols, pitch)
                tl.vsub_col(y_ub, x_ub, part_ub, n, cols, pitch)
                tl.vexp(y_ub, y_ub, count=n * pitch)
                tl.row_sum(part_ub, y_ub, n, cols, pitch)
                tl.vdiv_col(y_ub, y_ub, part_ub, n, cols, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
    else:
        for row in range(first, last):
            largest = -3.0e38
            sum = 0.0
            for at in range(row * cols, (row + 1) * cols, piece):
                n = min(piece, (row + 1) * cols - at)
                with tl.copyin():
                    tl.load(x + at, x_ub, count=n)
                with tl.compute():
                    tl.reduce_max(part_ub, x_ub, work_ub, count=n)
                    before = largest
                    largest = tl.max(largest, tl.extract_scalar(part_ub, 0))
                    tl.vsub_scalar(x_ub, x_ub, largest, count=n)
                    tl.vexp(x_ub, x_ub, count=n)
                    tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                    sum = sum * tl.exp(before - largest) + tl.extract_scalar(part_ub, 0)
            for at in range(row * cols, (row + 1) * cols, piece):
                n = min(piece, (row + 1) * cols - at)
                with tl.copyin():
                    tl.load(x + at, x_ub, count=n)
                with tl.compute():
                    tl.vsub_scalar(y_ub, x_ub, largest, count=n)
                    tl.vexp(y_ub, y_ub, count=n)
                    tl.vdiv_scalar(y_ub, y_ub, sum, count=n)
                with tl.copyout():
                    tl.store(y + at, y_ub, count=n)


def softmax_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4608):
    rows, cols = x.shape
    if rows * cols == 0:
        return
    cores = min(tl.num_vec_cores(), rows)
    softmax_kernel[cores](x, y, rows, cols, tl.cdiv(rows, cores), tile)
