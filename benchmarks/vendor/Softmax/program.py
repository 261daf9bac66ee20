import tile.language as tl

STRIPS = 48  # of all rows together, at most
LONG = 16384  # so long is a row that is worth the wait for each other


# y = softmax(x)
# Computed in float32. A core takes rows; those that fit into a tile come many at once and stay in
# UB, longer ones come in pieces, in 2 passes.
# Few long rows are cut into strips, so that several cores share a row: behind a tl.sync_all() each of them
# takes what the strips give together in their order.
@ascend_kernel
def softmax_kernel(x, y, cols, rows, per_core, shared, strips, sharing, wide, tile):
    first = tl.program_id(0) // sharing * per_core
    last = min(first + per_core, rows)
    mine = tl.program_id(0) % sharing
    piece = max(1, min(cols, tile))
    pitch = tl.pitch(piece)
    step = tile // pitch
    column1_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    column2_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    value1_ub = tl.alloc_ub(tile, dtype=tl.float32)
    strips1_ub = tl.alloc_ub(STRIPS * 16, dtype=tl.float32)
    strips2_ub = tl.alloc_ub(STRIPS * 16, dtype=tl.float32)
    value2_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        for strip in range(mine, strips, sharing):
            end = min((strip + 1) * wide, cols)
            with tl.compute():
                tl.duplicate(column1_ub, -3.0e38, count=n)
                tl.duplicate(column2_ub, 0.0, count=n)
            for at in range(strip * wide, end, piece):
                m = min(piece, end - at)
                with tl.copyin():
                    tl.load_rows(x + (row * cols + at), x_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.row_max(part_ub, x_ub, n, m, pitch)
                    tl.vmax(part_ub, part_ub, column1_ub, count=n)
                    tl.vsub_col(value1_ub, x_ub, part_ub, n, m, pitch)
                    tl.vexp(value1_ub, value1_ub, count=n * pitch)
                    tl.vsub(column1_ub, column1_ub, part_ub, count=n)
                    tl.vexp(column1_ub, column1_ub, count=n)
                    tl.vmul(column2_ub, column2_ub, column1_ub, count=n)
                    tl.row_sum(column1_ub, value1_ub, n, m, pitch)
                    tl.vadd(column2_ub, column2_ub, column1_ub, count=n)
                    tl.vadd(column1_ub, part_ub, 0.0, count=n)
            if strips > 1:
                with tl.copyout():
                    tl.store(shared + (row * strips + strip) * 8, column1_ub, count=1)
                    tl.store(shared + (STRIPS + row * strips + strip) * 8, column2_ub, count=1)
        if strips > 1:
            tl.sync_all()
            with tl.copyin():
                tl.load_rows(shared + row * strips * 8, strips1_ub, strips, 1, 8, 16)
                tl.load_rows(shared + (STRIPS + row * strips) * 8, strips2_ub, strips, 1, 8, 16)
            with tl.compute():
                tl.col_max(column1_ub, strips1_ub, strips, 1, 16)
                tl.vsub_row(strips1_ub, strips1_ub, column1_ub, strips, 1, 16)
                tl.vexp(strips1_ub, strips1_ub, count=strips * 16)
                tl.vmul(strips2_ub, strips2_ub, strips1_ub, count=strips * 16)
                tl.col_sum(column2_ub, strips2_ub, strips, 1, 16)
        for strip in range(mine, strips, sharing):
            end = min((strip + 1) * wide, cols)
            for at in range(strip * wide, end, piece):
                m = min(piece, end - at)
                if piece < cols:
                    with tl.copyin():
                        tl.load_rows(x + (row * cols + at), x_ub, n, m, cols, pitch)
                if piece < cols:
                    with tl.compute():
                        tl.vsub_col(value2_ub, x_ub, column1_ub, n, m, pitch)
                        tl.vexp(value1_ub, value2_ub, count=n * pitch)
                with tl.compute():
                    tl.vdiv_col(value1_ub, value1_ub, column2_ub, n, m, pitch)
                with tl.copyout():
                    tl.store_rows(y + (row * cols + at), value1_ub, n, m, cols, pitch)


def softmax_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 6144):
    if y.numel() == 0:
        return
    rows = 1
    for axis in range(x.ndim - 1):
        rows *= x.shape[axis]
    cols = x.shape[-1]
    assert y.numel() == rows * cols, "'y' has another shape"
    # few long rows are cut into strips, of a tile at least
    strips = max(1, min(STRIPS // max(1, rows), cols // tile)) if cols >= LONG else 1
    wide = max(64, tl.cdiv(tl.cdiv(cols, strips), 64) * 64)
    strips = max(1, tl.cdiv(cols, wide))
    cores = max(1, min(tl.num_vec_cores(), rows))
    while strips > 1 and rows % cores != 0:  # then cores have equally many, as each tl.sync_all() is for all
        cores -= 1
    sharing = min(strips, tl.num_vec_cores() // cores)
    shared = torch.empty(2 * STRIPS * 8, dtype=tl.float32)
    per_core = tl.cdiv(rows, cores)
    softmax_kernel[cores * sharing](
        x,
        y,
        cols,
        rows,
        per_core,
        shared,
        strips,
        sharing,
        wide,
        tile,
    )
