import tile.language as tl


# y = x / sqrt(mean(x^2) + eps), the mean over the C channels at each place of a sample. A core's
# share are strips of places; as many channels of a strip as fit into a tile come at once, and all
# of them twice where they do not fit.
@ascend_kernel
def rms_norm_kernel(x, y, depth, cols, piece, units, tile, eps):
    first = tl.program_id(0) * units // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    pitch = tl.pitch(piece)
    step = tile // pitch
    strips = tl.cdiv(cols, piece)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    rms_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for unit in range(first, last):
        m = min(piece, cols - unit % strips * piece)
        start = unit // strips * depth * cols + unit % strips * piece
        if depth <= step:
            with tl.copyin():
                tl.load_rows(x + start, x_ub, depth, m, cols, pitch)
            with tl.compute():
                tl.vmul(y_ub, x_ub, x_ub, count=depth * pitch)
                tl.col_sum(rms_ub, y_ub, depth, m, pitch)
                tl.vmul_scalar(rms_ub, rms_ub, 1.0 / depth, count=m)
                tl.vadd_scalar(rms_ub, rms_ub, eps, count=m)
                tl.vsqrt(rms_ub, rms_ub, count=m)
                tl.vdiv_row(y_ub, x_ub, rms_ub, depth, m, pitch)
            with tl.copyout():
                tl.store_rows(y + start, y_ub, depth, m, cols, pitch)
        else:
            with tl.compute():
                tl.duplicate(rms_ub, 0.0, count=m)
            for row in range(0, depth, step):
                n = min(step, depth - row)
                with tl.copyin():
                    tl.load_rows(x + start + row * cols, x_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vmul(x_ub, x_ub, x_ub, count=n * pitch)
                    tl.col_sum(part_ub, x_ub, n, m, pitch)
                    tl.vadd(rms_ub, rms_ub, part_ub, count=m)
            with tl.compute():
                tl.vmul_scalar(rms_ub, rms_ub, 1.0 / depth, count=m)
                tl.vadd_scalar(rms_ub, rms_ub, eps, count=m)
                tl.vsqrt(rms_ub, rms_ub, count=m)
            for row in range(0, depth, step):
                n = min(step, depth - row)
                with tl.copyin():
                    tl.load_rows(x + start + row * cols, x_ub, n, m, cols, pitch)
                with tl.compute():
                    tl.vdiv_row(y_ub, x_ub, rms_ub, n, m, pitch)
                with tl.copyout():
                    tl.store_rows(y + start + row * cols, y_ub, n, m, cols, pitch)


def rms_norm_host(x: torch.Tensor, y: torch.Tensor, eps: float = 1e-5, tile: tl.constexpr = 4608):
    batch, depth = x.shape[0], x.shape[1]
    if x.numel() == 0:
        return
    cols = x.shape[2] * x.shape[3]
    wide = max(tl.pitch(tl.cdiv(cols, max(1, tl.num_vec_cores() // batch))), 64)
    piece = min(cols, wide, max(64, tile // depth // 16 * 16), tile // 16)
    units = batch * tl.cdiv(cols, piece)
    cores = min(tl.num_vec_cores(), units)
    rms_norm_kernel[cores](x, y, depth, cols, piece, units, tile, eps)
