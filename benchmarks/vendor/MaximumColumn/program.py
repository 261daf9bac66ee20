import tile.language as tl


# y[o, r, c] = max(x1[o, r, c], x2[r]): each row of x1 has one number of x2. Cores take rows, many at once.
@ascend_kernel
def maximum_column_kernel(x1, x2, y, lines, period, cols, step, pitch, tile):
    kind = tl.float32 if x1.dtype == tl.bfloat16 else x1.dtype
    a_ub = tl.alloc_ub(tile, dtype=kind)
    b_ub = tl.alloc_ub(tile // 16, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    across = tl.cdiv(period, step)
    for block in range(tl.program_id(0), lines // period * across, tl.num_programs(0)):
        row = block % across * step
        line = block // across * period + row
        n = min(step, period - row)
        with tl.copyin():
            tl.load_rows(x1 + line * cols, a_ub, n, cols, cols, pitch)
            tl.load(x2 + row, b_ub, count=n)
        with tl.compute():
            tl.vmax_col(y_ub, a_ub, b_ub, n, cols, pitch)
        with tl.copyout():
            tl.store_rows(y + line * cols, y_ub, n, cols, cols, pitch)


def maximum_column_host(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 8192):
    if x1.numel() == 0:
        return
    period = x2.numel()
    cols = x1.shape[x1.ndim - 1]
    lines = x1.numel() // cols
    pitch = tl.pitch(cols)
    assert pitch <= tile
    step = min(tile // pitch, tl.cdiv(tl.cdiv(lines, tl.num_vec_cores()), 16) * 16)
    blocks = lines // period * tl.cdiv(period, step)
    maximum_column_kernel[min(tl.num_vec_cores(), blocks)](x1, x2, y, lines, period, cols, step, pitch, tile)
