import tile.language as tl


# ouput = the softmax over the last dimension of x, which is input1 where sel is true, input2
# elsewhere: exp(x - max) / sum(exp(x - max)). Rows that fit into a tile come many at once, longer
# ones in pieces, twice: the sum goes along with the largest element so far.
@ascend_kernel
def select_softmax_kernel(sel, input1, input2, y, rows, cols, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    piece = min(cols, tile)
    pitch = tl.cdiv(piece, 32) * 32
    step = tile // pitch
    sel_ub = tl.alloc_ub(tile, dtype=tl.bool)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    max_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.compute():
            tl.duplicate(max_ub, -3.0e38, count=n)
            tl.duplicate(sum_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            with tl.copyin():
                tl.load_rows(sel + place, sel_ub, n, m, cols, pitch)
                tl.load_rows(input1 + place, a_ub, n, m, cols, pitch)
                tl.load_rows(input2 + place, b_ub, n, m, cols, pitch)
            with tl.compute():
                tl.vselect(x_ub, sel_ub, a_ub, b_ub, count=n * pitch)
                tl.row_max(part_ub, x_ub, n, m, pitch)
                tl.vmax(part_ub, part_ub, max_ub, count=n)
                tl.vsub(max_ub, max_ub, part_ub, count=n)
                tl.vexp(max_ub, max_ub, count=n)
                tl.vmul(sum_ub, sum_ub, max_ub, count=n)
                tl.vsub_col(a_ub, x_ub, part_ub, n, m, pitch)
                tl.vexp(a_ub, a_ub, count=n * pitch)
                tl.row_sum(max_ub, a_ub, n, m, pitch)
                tl.vadd(sum_ub, sum_ub, max_ub, count=n)
                tl.vadd_scalar(max_ub, part_ub, 0.0, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            place = row * cols + at
            if piece < cols:
                with tl.copyin():
                    tl.load_rows(sel + place, sel_ub, n, m, cols, pitch)
                    tl.load_rows(input1 + place, a_ub, n, m, cols, pitch)
                    tl.load_rows(input2 + place, b_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vselect(x_ub, sel_ub, a_ub, b_ub, count=n * pitch)
            with tl.compute():
                tl.vsub_col(x_ub, x_ub, max_ub, n, m, pitch)
                tl.vexp(x_ub, x_ub, count=n * pitch)
                tl.vdiv_col(y_ub, x_ub, sum_ub, n, m, pitch)
            with tl.copyout():
                tl.store_rows(y + place, y_ub, n, m, cols, pitch)


def select_softmax_host(sel, input1, input2, ouput, tile: tl.constexpr = 1024):
    if sel.numel() == 0:
        return
    cols = sel.shape[-1]
    rows = sel.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    select_softmax_kernel[cores](
        sel,
        input1,
        input2,
        ouput,
        rows,
        cols,
        tl.cdiv(rows, cores),
        tile,
    )
