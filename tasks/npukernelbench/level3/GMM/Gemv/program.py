import tile.language as tl


# out = alpha a x + beta y. A core's share are rows of a; as many as fit into a tile come at once, long ones in pieces.
@ascend_kernel
def gemv_kernel(a, x, y, out, alpha, beta, m, n, per_core, piece, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, m)
    pitch = tl.pitch(piece)
    step = tile // pitch
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    product_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    out_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(first, last, step):
        rows = min(step, last - row)
        with tl.compute():
            tl.duplicate(sum_ub, 0.0, count=rows)
        for at in range(0, n, piece):
            cols = min(piece, n - at)
            with tl.copyin():
                tl.load_rows(a + row * n + at, a_ub, rows, cols, n, pitch)
                tl.load(x + at, x_ub, count=cols)
            with tl.compute():
                tl.vmul_row(product_ub, a_ub, x_ub, rows, cols, pitch)
                tl.row_sum(part_ub, product_ub, rows, cols, pitch)
                tl.vadd(sum_ub, sum_ub, part_ub, count=rows)
        with tl.copyin():
            tl.load(y + row, y_ub, count=rows)
        with tl.compute():
            tl.vmul_scalar(out_ub, sum_ub, alpha, count=rows)
            tl.vmul_scalar(y_ub, y_ub, beta, count=rows)
            tl.vadd(out_ub, out_ub, y_ub, count=rows)
        with tl.copyout():
            tl.store(out + row, out_ub, count=rows)


def gemv_host(
    a: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    out: torch.Tensor,
    alpha: float,
    beta: float,
    tile: tl.constexpr = 4096,
):
    m, n = a.shape
    if m * n == 0:
        return
    piece = min(n, tile)
    cores = min(tl.num_vec_cores(), m)
    gemv_kernel[cores](a, x, y, out, alpha, beta, m, n, tl.cdiv(m, cores), piece, tile)
