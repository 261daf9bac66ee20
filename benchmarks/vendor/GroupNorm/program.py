import tile.language as tl


# y = (x - mean) * rstd * gamma + beta, with mean and rstd = 1 / sqrt(variance + epsilon) of each group of channels. Groups are cut
# into strips, so many that all cores have as many: a core leaves the sums of x and (x - c)^2 of its strips, c the group's first
# element. Behind tl.sync_all() cores take pieces of channels, y = x * (rstd * gamma) + (beta - mean * rstd * gamma).
@ascend_kernel
def group_norm_kernel(
    x,
    gamma,
    beta,
    y,
    average,
    rstd,
    parts,
    epsilon,
    groups,
    own,
    channels,
    plane,
    strips,
    wide,
    piece,
    per_core,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    size = channels * plane
    across = tl.cdiv(plane, piece)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    d_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(16, dtype=tl.float32)
    parts_ub = tl.alloc_ub(strips * 16, dtype=tl.float32)
    average_ub = tl.alloc_ub(16, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(16, dtype=tl.float32)
    for unit in range(core, groups * strips, cores):
        group = unit // strips
        begin = unit % strips * wide
        end = min(begin + wide, size)
        c = float(tl.extract_scalar(x, group * size))
        with tl.compute():
            tl.duplicate(sum_ub, 0.0)
            tl.duplicate(squares_ub, 0.0)
        for at in range(begin, end, tile):
            n = min(tile, end - at)
            with tl.copyin():
                tl.load(x + group * size + at, x_ub, count=n)
            with tl.compute():
                tl.vsub_scalar(d_ub, x_ub, c, count=n)
                tl.vadd(sum_ub, sum_ub, x_ub, count=n)
                tl.vmul(d_ub, d_ub, d_ub, count=n)
                tl.vadd(squares_ub, squares_ub, d_ub, count=n)
        with tl.compute():
            tl.duplicate(part_ub, 0.0)
            tl.reduce_sum(part_ub, sum_ub, d_ub)
            tl.reduce_sum(part_ub + 8, squares_ub, d_ub)
        with tl.copyout():
            tl.store(parts + unit * 16, part_ub)
    tl.sync_all()
    for group in range(core, groups, cores):
        c = float(tl.extract_scalar(x, group * size))
        with tl.copyin():
            tl.load(parts + group * strips * 16, parts_ub, count=strips * 16)
        with tl.compute():
            tl.col_sum(part_ub, parts_ub, strips, 16, 16)
            mean = tl.extract_scalar(part_ub, 0) / size
            square = tl.extract_scalar(part_ub, 8) / size - (mean - c) * (mean - c)
            tl.duplicate(average_ub, mean, count=1)
            tl.duplicate(rstd_ub, 1.0 / tl.sqrt(max(square, 0.0) + epsilon), count=1)
        with tl.copyout():
            tl.store(average + group, average_ub, count=1)
            tl.store(rstd + group, rstd_ub, count=1)
    last = -1
    mean = 0.0
    scale = 0.0
    for unit in range(core * per_core, min((core + 1) * per_core, groups * channels * across)):
        row = unit // across
        group = row // channels
        begin = unit % across * piece
        n = min(piece, plane - begin)
        if group != last:
            last = group
            c = float(tl.extract_scalar(x, group * size))
            with tl.copyin():
                tl.load(parts + group * strips * 16, parts_ub, count=strips * 16)
            with tl.compute():
                tl.col_sum(part_ub, parts_ub, strips, 16, 16)
                mean = tl.extract_scalar(part_ub, 0) / size
                square = tl.extract_scalar(part_ub, 8) / size - (mean - c) * (mean - c)
                scale = 1.0 / tl.sqrt(max(square, 0.0) + epsilon)
        channel = row % (own * channels)
        factor = scale * float(tl.extract_scalar(gamma, channel))
        offset = float(tl.extract_scalar(beta, channel)) - mean * factor
        with tl.copyin():
            tl.load(x + row * plane + begin, x_ub, count=n)
        with tl.compute():
            tl.vmul_scalar(y_ub, x_ub, factor, count=n)
            tl.vadd_scalar(y_ub, y_ub, offset, count=n)
        with tl.copyout():
            tl.store(y + row * plane + begin, y_ub, count=n)


def group_norm_host(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    y: torch.Tensor,
    average: torch.Tensor,
    rstd: torch.Tensor,
    epsilon=1e-5,
    tile: tl.constexpr = 6144,
):
    if x.numel() == 0:
        return
    batch, own, channels, plane = x.shape
    groups = batch * own
    cores = tl.num_vec_cores()
    # The fewest strips with which the cores share all groups evenly, but none of less than 1024 elements.
    strips = 1
    while groups * strips % cores != 0 and strips < cores and channels * plane // (strips + 1) >= 1024:
        strips += 1
    wide = tl.cdiv(tl.cdiv(channels * plane, strips), 64) * 64
    strips = tl.cdiv(channels * plane, wide)
    piece = tl.cdiv(tl.cdiv(plane, tl.cdiv(plane, tile)), 64) * 64
    units = groups * channels * tl.cdiv(plane, piece)
    parts = torch.empty(groups * strips * 16, dtype=tl.float32)
    group_norm_kernel[cores](
        x,
        gamma,
        beta,
        y,
        average,
        rstd,
        parts,
        epsilon,
        groups,
        own,
        channels,
        plane,
        strips,
        wide,
        piece,
        tl.cdiv(units, cores),
        tile,
    )
