import tile.language as tl


# y = (x - mean) / sqrt(variance + 1e-5) * weight + bias, mean and variance of each channel over
# N, H and W. A core's share are channels, several at once where they are small; each piece's
# means and squares join those of the pieces before.
@ascend_kernel
def batch_norm_kernel(x, weight, bias, y, tile):
    batch, channels, size = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
    first = tl.program_id(0) * channels // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * channels // tl.num_programs(0)
    piece = min(size, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    shift_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for channel in range(first, last, step):
        n = min(step, last - channel)
        seen = 0
        with tl.compute():
            tl.duplicate(mean_ub, 0.0, count=n)
            tl.duplicate(squares_ub, 0.0, count=n)
        for sample in range(batch):
            start = (sample * channels + channel) * size
            for at in range(0, size, piece):
                m = min(piece, size - at)
                with tl.copyin():
                    tl.load_rows(x + start + at, x_ub, n, m, size, pitch)
                with tl.compute():
                    tl.row_sum(shift_ub, x_ub, n, m, pitch)
                    tl.vmul_scalar(shift_ub, shift_ub, 1.0 / m, count=n)
                    tl.vsub_col(x_ub, x_ub, shift_ub, n, m, pitch)
                    tl.vmul(x_ub, x_ub, x_ub, count=n * pitch)
                    tl.row_sum(part_ub, x_ub, n, m, pitch)
                    tl.vadd(squares_ub, squares_ub, part_ub, count=n)
                    tl.vsub(shift_ub, shift_ub, mean_ub, count=n)
                    tl.vaxpy(mean_ub, shift_ub, m / (seen + m), count=n)
                    tl.vmul(shift_ub, shift_ub, shift_ub, count=n)
                    tl.vaxpy(squares_ub, shift_ub, m / (seen + m) * seen, count=n)
                seen += m
        with tl.copyin():
            tl.load(weight + channel, weight_ub, count=n)
            tl.load(bias + channel, bias_ub, count=n)
        with tl.compute():
            tl.vmul_scalar(squares_ub, squares_ub, 1.0 / seen, count=n)
            tl.vadd_scalar(part_ub, squares_ub, 1e-5, count=n)
            tl.vrsqrt(part_ub, part_ub, count=n)
            tl.vmul(weight_ub, weight_ub, part_ub, count=n)
        for sample in range(batch):
            start = (sample * channels + channel) * size
            for at in range(0, size, piece):
                m = min(piece, size - at)
                with tl.copyin():
                    tl.load_rows(x + start + at, x_ub, n, m, size, pitch)
                with tl.compute():
                    tl.vsub_col(x_ub, x_ub, mean_ub, n, m, pitch)
                    tl.vmul_col(y_ub, x_ub, weight_ub, n, m, pitch)
                    tl.vadd_col(y_ub, y_ub, bias_ub, n, m, pitch)
                with tl.copyout():
                    tl.store_rows(y + start + at, y_ub, n, m, size, pitch)


def batch_norm_host(x, weight, bias, y, tile: tl.constexpr = 6144):
    channels = x.shape[1]
    if x.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), channels)
    batch_norm_kernel[cores](x, weight, bias, y, tile)
