import tile.language as tl


# y = (x - mean) / sqrt(variance + 1e-5) * weight + bias, mean and variance of each sample over C,
# H and W. Samples that fit into a tile come many at once. Larger ones come in pieces, twice: each
# piece's mean and squares join those before; cores that share a sample join theirs in its order.
@ascend_kernel
def layer_norm_kernel(x, weight, bias, y, sums, rows, cols, parts, share, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows * parts)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(512, dtype=tl.float32)
    if piece == cols:
        with tl.copyin():
            tl.load(weight, weight_ub, count=cols)
            tl.load(bias, bias_ub, count=cols)
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
                tl.vrsqrt(part_ub, part_ub, count=n)
                tl.vmul_col(x_ub, x_ub, part_ub, n, cols, pitch)
                tl.vmul_row(y_ub, x_ub, weight_ub, n, cols, pitch)
                tl.vadd_row(y_ub, y_ub, bias_ub, n, cols, pitch)
            with tl.copyout():
                tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
    else:
        for unit in range(first, last):
            row = unit // parts
            start = unit % parts * share
            end = min(start + share, cols)
            mean = 0.0
            squares = 0.0
            for at in range(start, end, piece):
                n = min(piece, end - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                with tl.compute():
                    tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                    shift = tl.extract_scalar(part_ub, 0) / n - mean
                    tl.vsub_scalar(x_ub, x_ub, mean + shift, count=n)
                    tl.vmul(x_ub, x_ub, x_ub, count=n)
                    tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                    before = at - start
                    squares += (
                        tl.extract_scalar(part_ub, 0) +
                        shift * shift * (n / (before + n) * before)
                    )
                    mean += shift * (n / (before + n))
            if parts > 1:
                with tl.compute():
                    tl.duplicate(sum_ub, mean, count=8)
                    tl.set_scalar(sum_ub, 1, squares)
                with tl.copyout():
                    tl.store(sums + unit * 8, sum_ub, count=8)
                tl.sync_all()
                with tl.copyin():
                    tl.load(sums + row * parts * 8, sums_ub, count=parts * 8)
                mean = 0.0
                squares = 0.0
                for part in range(parts):
                    before = part * share
                    n = min(share, cols - before)
                    shift = tl.extract_scalar(sums_ub, part * 8) - mean
                    squares += (
                        tl.extract_scalar(sums_ub, part * 8 + 1) +
                        shift * shift * (n / (before + n) * before)
                    )
                    mean += shift * (n / (before + n))
            rstd = 1.0 / tl.sqrt(squares / cols + 1e-5)
            for at in range(start, end, piece):
                n = min(piece, end - at)
                with tl.copyin():
                    tl.load(x + row * cols + at, x_ub, count=n)
                    tl.load(weight + at, weight_ub, count=n)
                    tl.load(bias + at, bias_ub, count=n)
                with tl.compute():
                    tl.vsub_scalar(y_ub, x_ub, mean, count=n)
                    tl.vmul_scalar(y_ub, y_ub, rstd, count=n)
                    tl.vmul(y_ub, y_ub, weight_ub, count=n)
                    tl.vadd(y_ub, y_ub, bias_ub, count=n)
                with tl.copyout():
                    tl.store(y + row * cols + at, y_ub, count=n)


def layer_norm_host(x, weight, bias, y, tile: tl.constexpr = 3072):
    rows = x.shape[0]
    if x.numel() == 0:
        return
    cols = x.numel() // rows
    share = max(1024, tl.cdiv(tl.cdiv(cols, max(1, tl.num_vec_cores() // rows)), 128) * 128)
    if cols <= tile:
        share = cols
    parts = tl.cdiv(cols, share)
    cores = min(tl.num_vec_cores(), rows * parts)
    sums = torch.empty(rows * parts * 8, dtype=torch.float32)
    per_core = tl.cdiv(rows * parts, cores)
    layer_norm_kernel[cores](x, weight, bias, y, sums, rows, cols, parts, share, per_core, tile)
