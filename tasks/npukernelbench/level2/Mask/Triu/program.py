import tile.language as tl


# y[.., r, c] = x[.., r, c] where c >= r + diagonal, 0 elsewhere. Many rows come at once; each has
# its r + diagonal, from which its columns are subtracted.
@ascend_kernel
def triu_kernel(x, y, rows, height, cols, tile, diagonal):
    first = tl.program_id(0) * rows // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * rows // tl.num_programs(0)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    column_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mask_ub = tl.alloc_ub(tile, dtype=tl.bool)
    limit_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    with tl.compute():
        tl.iota(column_ub, 0.0)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.compute():
            tl.iota(limit_ub, row % height, count=n)
            tl.vadd_scalar(part_ub, limit_ub, 0.5, count=n)
            tl.vmul_scalar(part_ub, part_ub, 1.0 / height, count=n)
            tl.vfloor(part_ub, part_ub, count=n)
            tl.vmul_scalar(part_ub, part_ub, height, count=n)
            tl.vsub(limit_ub, limit_ub, part_ub, count=n)
            tl.vadd_scalar(limit_ub, limit_ub, diagonal, count=n)
        for at in range(0, cols, piece):
            m = min(piece, cols - at)
            with tl.copyin():
                tl.load_rows(x + row * cols + at, x_ub, n, m, cols, pitch)
            with tl.compute():
                tl.broadcast_col(work_ub, limit_ub, n, m, pitch)
                tl.vsub_row(work_ub, work_ub, column_ub, n, m, pitch)
                tl.vle(mask_ub, work_ub, at, count=n * pitch)
                tl.vselect(y_ub, mask_ub, x_ub, 0.0, count=n * pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols + at, y_ub, n, m, cols, pitch)


def triu_host(x: torch.Tensor, y: torch.Tensor, diagonal: int = 0, tile: tl.constexpr = 2048):
    if x.numel() == 0:
        return
    height, cols = x.shape[-2], x.shape[-1]
    rows = x.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    triu_kernel[cores](x, y, rows, height, cols, tile, diagonal)
