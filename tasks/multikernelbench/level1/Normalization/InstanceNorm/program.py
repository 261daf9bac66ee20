import tile.language as tl


# y = (x - mean) / sqrt(variance + 1e-5), mean and variance over H and W of each channel of each
# sample. Channels that fit into a tile come many at once, larger ones in pieces, twice: each
# piece's mean and squares join those of the pieces before.
@ascend_kernel
def instance_norm_kernel(x, y, rows, cols, tile):
    first = tl.program_id(0) * rows // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * rows // tl.num_programs(0)
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
                tl.row_sum(part_ub, x_ub, n, cols, pitch)
                tl.vmul_scalar(part_ub, part_ub, 1.0 / cols, count=n)
                tl.vsub_col(x_ub, x_ub, part_ub, n, cols, pitch)
                tl.vmul(work_ub, x_ub, x_ub, count=n * pitch)
                tl.row_sum(part_ub, work_ub, n, cols, pitch)
                tl.vmul_scalar(part_ub, part_ub, 1.0 / cols, count=n)
                tl.vadd_scalar(part_ub, part_ub, 1e-5, count=n)
                tl.vsqrt(part_ub, part_ub, count=n)
                tl.vdiv_col(y_ub, x_ub, part_ub, n, cols, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
    else:
        for row in range(first, last):
            mean = 0.0
            squares = 0.0
            for at in range(0, cols, piece):
                n = min(piece, cols - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                with tl.compute():
                    tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                    shift = tl.extract_scalar(part_ub, 0) / n - mean
                    tl.vsub_scalar(x_ub, x_ub, mean + shift, count=n)
                    tl.vmul(x_ub, x_ub, x_ub, count=n)
                    tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                    squares += tl.extract_scalar(part_ub, 0) + shift * shift * (n / (at + n) * at)
                    mean += shift * (n / (at + n))
            rstd = 1.0 / tl.sqrt(squares / cols + 1e-5)
            for at in range(0, cols, piece):
                n = min(piece, cols - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                with tl.compute():
                    tl.vsub_scalar(y_ub, x_ub, mean, count=n)
                    tl.vmul_scalar(y_ub, y_ub, rstd, count=n)
                with tl.copyout():
                    tl.store(y + row * cols + at, y_ub, count=n)


def instance_norm_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 6144):
    if x.numel() == 0:
        return
    cols = x.shape[2] * x.shape[3]
    rows = x.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    instance_norm_kernel[cores](x, y, rows, cols, tile)
