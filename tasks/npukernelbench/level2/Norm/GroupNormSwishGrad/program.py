import tile.language as tl


# Gradient of a group norm with swish. With n = (x - mean) * rstd, g = n * gamma + beta, q = 1 /
# (exp(-scale * g) + 1) and d = dy * (g - g * q + 1) * q: dx = rstd * (d * gamma - n * c2 - c1)
# with c1 and c2 the means of d * gamma and d * n * gamma over a group; dgamma and dbeta are the
# sums of d * n and d of a channel. A core's share are groups, several at once where they are
# small; a row of a tile is a channel, or a piece of one. The first turn makes the sums, the
# second dx. What is one per channel and what is one per group become each other by index.
@ascend_kernel
def grad_kernel(dy, mean, rstd, x, gamma, beta, dx, dgamma, dbeta, ds, dns, together, tile, scale):
    batch, groups = mean.shape[0], mean.shape[1]
    channels = x.shape[1] // groups
    size = x.numel() // (batch * groups * channels)
    blocks = tl.cdiv(groups, together)
    per_core = tl.cdiv(batch * blocks, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    piece = min(size, tile)
    pitch = tl.pitch(piece)
    part = min(channels, tile // pitch)
    wide = tl.pitch(part)
    dy_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    dx_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    q_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    line_ub = tl.alloc_ub(tile, dtype=tl.int32)
    group_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    means_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    rstds_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    gamma_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    beta_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    c1_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    c2_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    d_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    dn_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    with tl.compute():
        tl.iota(group_ub, 0, step=4 * part, count=together)
        tl.iota(line_ub, 0, step=4, count=wide)
        tl.broadcast_col(index_ub, group_ub, together, wide, wide)
        tl.vadd_row(index_ub, index_ub, line_ub, together, wide, wide)
        tl.vmin(index_ub, index_ub, 4 * (together * part - 1), count=together * wide)
        tl.iota(part_ub, 0.5 / part, step=1.0 / part)
        tl.vfloor(part_ub, part_ub)
        tl.cast(group_ub, part_ub)
        tl.vmul(group_ub, group_ub, 4)
        tl.duplicate(part_ub, 0.0)
    for unit in range(first, min(first + per_core, batch * blocks)):
        group = unit % blocks * together
        k = min(together, groups - group)
        start = unit // blocks * groups + group
        with tl.copyin():
            tl.load(mean + start, mean_ub, count=k)
            tl.load(rstd + start, rstd_ub, count=k)
        with tl.compute():
            tl.duplicate(c1_ub, 0.0, count=k)
            tl.duplicate(c2_ub, 0.0, count=k)
        for turn in range(2):
            for channel in range(0, channels, part):
                lines = min(part, channels - channel)
                rows = k * lines
                with tl.copyin():
                    tl.load(gamma + group * channels + channel, gamma_ub, count=rows)
                    tl.load(beta + group * channels + channel, beta_ub, count=rows)
                with tl.compute():
                    tl.gather(means_ub, mean_ub, group_ub, 0, count=rows)
                    tl.gather(rstds_ub, rstd_ub, group_ub, 0, count=rows)
                    tl.duplicate(d_ub, 0.0, count=rows)
                    tl.duplicate(dn_ub, 0.0, count=rows)
                for at in range(0, size, piece):
                    m = min(piece, size - at)
                    n = rows * pitch
                    place = (start * channels + channel) * size + at
                    with tl.copyin():
                        tl.load_rows(dy + place, dy_ub, rows, m, size, pitch)
                        tl.load_rows(x + place, x_ub, rows, m, size, pitch)
                    with tl.compute():
                        tl.vsub_col(x_ub, x_ub, means_ub, rows, m, pitch)
                        tl.vmul_col(x_ub, x_ub, rstds_ub, rows, m, pitch)
                        tl.vmul_col(g_ub, x_ub, gamma_ub, rows, m, pitch)
                        tl.vadd_col(g_ub, g_ub, beta_ub, rows, m, pitch)
                        tl.vmul_scalar(q_ub, g_ub, -scale, count=n)
                        tl.vexp(q_ub, q_ub, count=n)
                        tl.vadd_scalar(q_ub, q_ub, 1.0, count=n)
                        tl.vreciprocal(q_ub, q_ub, count=n)
                        tl.vmul(dy_ub, dy_ub, q_ub, count=n)
                        tl.vmul(q_ub, q_ub, g_ub, count=n)
                        tl.vsub(g_ub, g_ub, q_ub, count=n)
                        tl.vadd_scalar(g_ub, g_ub, 1.0, count=n)
                        tl.vmul(dy_ub, dy_ub, g_ub, count=n)
                    if turn == 0:
                        with tl.compute():
                            tl.row_sum(part_ub, dy_ub, rows, m, pitch)
                            tl.vadd(d_ub, d_ub, part_ub, count=rows)
                            tl.vmul(x_ub, x_ub, dy_ub, count=n)
                            tl.row_sum(part_ub, x_ub, rows, m, pitch)
                            tl.vadd(dn_ub, dn_ub, part_ub, count=rows)
                    else:
                        with tl.compute():
                            tl.gather(part_ub, c1_ub, group_ub, 0, count=rows)
                            tl.vmul_col(dy_ub, dy_ub, gamma_ub, rows, m, pitch)
                            tl.vsub_col(dy_ub, dy_ub, part_ub, rows, m, pitch)
                            tl.gather(part_ub, c2_ub, group_ub, 0, count=rows)
                            tl.vmul_col(x_ub, x_ub, part_ub, rows, m, pitch)
                            tl.vsub(dy_ub, dy_ub, x_ub, count=n)
                            tl.vmul_col(dx_ub, dy_ub, rstds_ub, rows, m, pitch)
                        with tl.copyout():
                            tl.store_rows(dx + place, dx_ub, rows, m, size, pitch)
                if turn == 0:
                    with tl.copyout():
                        tl.store(ds + start * channels + channel, d_ub, count=rows)
                        tl.store(dns + start * channels + channel, dn_ub, count=rows)
                    with tl.compute():
                        tl.vmul(part_ub, d_ub, gamma_ub, count=rows)
                        tl.gather(q_ub, part_ub, index_ub, 0, count=k * wide)
                        tl.row_sum(part_ub, q_ub, k, lines, wide)
                        tl.vaxpy(c1_ub, part_ub, 1.0 / (channels * size), count=k)
                        tl.vmul(part_ub, dn_ub, gamma_ub, count=rows)
                        tl.gather(q_ub, part_ub, index_ub, 0, count=k * wide)
                        tl.row_sum(part_ub, q_ub, k, lines, wide)
                        tl.vaxpy(c2_ub, part_ub, 1.0 / (channels * size), count=k)
    tl.sync_all()
    strip = min(tl.pitch(tl.cdiv(x.shape[1], tl.num_programs(0))), tile // 256 * 16)
    step = tile // strip
    for at in range(tl.program_id(0) * strip, x.shape[1], tl.num_programs(0) * strip):
        m = min(strip, x.shape[1] - at)
        with tl.compute():
            tl.duplicate(gamma_ub, 0.0, count=m)
            tl.duplicate(beta_ub, 0.0, count=m)
        for row in range(0, batch, step):
            n = min(step, batch - row)
            with tl.copyin():
                tl.load_rows(dns + row * x.shape[1] + at, dy_ub, n, m, x.shape[1], strip)
                tl.load_rows(ds + row * x.shape[1] + at, x_ub, n, m, x.shape[1], strip)
            with tl.compute():
                tl.col_sum(part_ub, dy_ub, n, m, strip)
                tl.vadd(gamma_ub, gamma_ub, part_ub, count=m)
                tl.col_sum(part_ub, x_ub, n, m, strip)
                tl.vadd(beta_ub, beta_ub, part_ub, count=m)
        with tl.copyout():
            tl.store(dgamma + at, gamma_ub, count=m)
            tl.store(dbeta + at, beta_ub, count=m)


def grad_host(
    dy: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    dx: torch.Tensor,
    dgamma: torch.Tensor,
    dbeta: torch.Tensor,
    num_groups: int,
    swish_scale: float = 1.0,
    tile: tl.constexpr = 3072,
):
    if x.numel() == 0:
        return
    lines = tile // tl.pitch(min(x.numel() // (x.shape[0] * x.shape[1]), tile))
    together = min(lines // (x.shape[1] // num_groups), tl.cdiv(mean.numel(), tl.num_vec_cores()))
    together = max(1, min(together, num_groups))
    cores = min(tl.num_vec_cores(), x.shape[0] * tl.cdiv(num_groups, together))
    ds = torch.empty(x.shape[0] * x.shape[1], dtype=tl.float32)
    dns = torch.empty(x.shape[0] * x.shape[1], dtype=tl.float32)
    k, scale = together, swish_scale
    grad_kernel[cores](dy, mean, rstd, x, gamma, beta, dx, dgamma, dbeta, ds, dns, k, tile, scale)
