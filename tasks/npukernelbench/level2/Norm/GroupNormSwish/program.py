import tile.language as tl


# g = (x - mean) * rstd * gamma + beta, mean and rstd of each sample over each group of channels;
# y = g * sigmoid(swish_scale * g), or g. A core's share are groups, several at once where they
# are small; a row of a tile is a channel, or a piece of one. Each piece's means and squares join
# those of the pieces before. What is one per channel and what is one per group become each other
# by index.
@ascend_kernel
def swish_kernel(x, gamma, beta, y, mean, rstd, groups, together, tile, eps, swish, scale):
    batch, channels = x.shape[0], x.shape[1] // groups
    size = x.numel() // (batch * groups * channels)
    blocks = tl.cdiv(groups, together)
    units = batch * blocks
    first = tl.program_id(0) * units // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    piece = min(size, tile)
    pitch = tl.pitch(piece)
    part = min(channels, tile // pitch)
    wide = tl.pitch(part)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    group_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    line_ub = tl.alloc_ub(tile, dtype=tl.int32)
    channel_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    gamma_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    beta_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    shift_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    with tl.compute():
        tl.iota(group_ub, 0, step=4 * part, count=together)
        tl.iota(line_ub, 0, step=4, count=wide)
        tl.broadcast_col(index_ub, group_ub, together, wide, wide)
        tl.vadd_row(index_ub, index_ub, line_ub, together, wide, wide)
        tl.vmin(index_ub, index_ub, 4 * (together * part - 1), count=together * wide)
        tl.iota(channel_ub, 0.5 / part, step=1.0 / part)
        tl.vfloor(channel_ub, channel_ub)
        tl.cast(group_ub, channel_ub)
        tl.vmul(group_ub, group_ub, 4)
        tl.duplicate(channel_ub, 0.0)
    for unit in range(first, last):
        group = unit % blocks * together
        k = min(together, groups - group)
        start = unit // blocks * groups + group
        seen = 0
        with tl.compute():
            tl.duplicate(mean_ub, 0.0, count=k)
            tl.duplicate(squares_ub, 0.0, count=k)
        for channel in range(0, channels, part):
            lines = min(part, channels - channel)
            for at in range(0, size, piece):
                m = min(piece, size - at)
                place = (start * channels + channel) * size + at
                with tl.copyin():
                    tl.load_rows(x + place, x_ub, k * lines, m, size, pitch)
                with tl.compute():
                    tl.row_sum(channel_ub, x_ub, k * lines, m, pitch)
                    tl.gather(work_ub, channel_ub, index_ub, 0, count=k * wide)
                    tl.row_sum(shift_ub, work_ub, k, lines, wide)
                    tl.vmul_scalar(shift_ub, shift_ub, 1.0 / (lines * m), count=k)
                    tl.gather(channel_ub, shift_ub, group_ub, 0, count=k * lines)
                    tl.vsub_col(x_ub, x_ub, channel_ub, k * lines, m, pitch)
                    tl.vmul(x_ub, x_ub, x_ub, count=k * lines * pitch)
                    tl.row_sum(channel_ub, x_ub, k * lines, m, pitch)
                    tl.gather(work_ub, channel_ub, index_ub, 0, count=k * wide)
                    tl.row_sum(part_ub, work_ub, k, lines, wide)
                    tl.vadd(squares_ub, squares_ub, part_ub, count=k)
                    tl.vsub(shift_ub, shift_ub, mean_ub, count=k)
                    share = lines * m / (seen + lines * m)
                    tl.vaxpy(mean_ub, shift_ub, share, count=k)
                    tl.vmul(shift_ub, shift_ub, shift_ub, count=k)
                    tl.vaxpy(squares_ub, shift_ub, share * seen, count=k)
                seen += lines * m
        with tl.compute():
            tl.vmul_scalar(squares_ub, squares_ub, 1.0 / seen, count=k)
            tl.vadd_scalar(squares_ub, squares_ub, eps, count=k)
            tl.vrsqrt(squares_ub, squares_ub, count=k)
        with tl.copyout():
            tl.store(mean + start, mean_ub, count=k)
            tl.store(rstd + start, squares_ub, count=k)
        for channel in range(0, channels, part):
            lines = min(part, channels - channel)
            with tl.copyin():
                tl.load(gamma + group * channels + channel, gamma_ub, count=k * lines)
                tl.load(beta + group * channels + channel, beta_ub, count=k * lines)
            with tl.compute():
                tl.gather(channel_ub, squares_ub, group_ub, 0, count=k * lines)
                tl.vmul(gamma_ub, gamma_ub, channel_ub, count=k * lines)
                tl.gather(channel_ub, mean_ub, group_ub, 0, count=k * lines)
            for at in range(0, size, piece):
                m = min(piece, size - at)
                place = (start * channels + channel) * size + at
                with tl.copyin():
                    tl.load_rows(x + place, x_ub, k * lines, m, size, pitch)
                with tl.compute():
                    tl.vsub_col(x_ub, x_ub, channel_ub, k * lines, m, pitch)
                    tl.vmul_col(x_ub, x_ub, gamma_ub, k * lines, m, pitch)
                    tl.vadd_col(y_ub, x_ub, beta_ub, k * lines, m, pitch)
                    if swish:
                        tl.vmul_scalar(work_ub, y_ub, -scale, count=k * lines * pitch)
                        tl.vexp(work_ub, work_ub, count=k * lines * pitch)
                        tl.vadd_scalar(work_ub, work_ub, 1.0, count=k * lines * pitch)
                        tl.vdiv(y_ub, y_ub, work_ub, count=k * lines * pitch)
                with tl.copyout():
                    tl.store_rows(y + place, y_ub, k * lines, m, size, pitch)


def swish_host(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    y: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    num_groups: int,
    eps: float = 1e-5,
    activate_swish: bool = True,
    swish_scale: float = 1.0,
    tile: tl.constexpr = 2048,
):
    if x.numel() == 0:
        return
    units = x.shape[0] * num_groups
    channels = x.shape[1] // num_groups
    lines = tile // tl.pitch(min(x.numel() // (units * channels), tile))
    together = max(1, min(num_groups, lines // channels, tl.cdiv(units, tl.num_vec_cores())))
    units = x.shape[0] * tl.cdiv(num_groups, together)
    cores = min(tl.num_vec_cores(), units)
    swish, scale, groups = activate_swish, swish_scale, num_groups
    swish_kernel[cores](x, gamma, beta, y, mean, rstd, groups, together, tile, eps, swish, scale)
