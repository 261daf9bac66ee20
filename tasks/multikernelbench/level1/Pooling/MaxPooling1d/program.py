import tile.language as tl


# y = the maximum of x under a window that moves over the last dimension; padding counts as minus
# infinity. Many rows come at once, with padding between them; then the columns, which come by
# index.
@ascend_kernel
def max_pooling_1d_kernel(x, y, kernel_size, stride, padding, dilation, wide, step, tile):
    rows, width, out_width = x.shape[0] * x.shape[1], x.shape[2], y.shape[2]
    reach = dilation * (kernel_size - 1) + 1
    pitch = tl.pitch((wide - 1) * stride + reach)
    out_pitch = tl.pitch(wide)
    lead = tl.pitch(padding)
    strips = tl.cdiv(out_width, wide)
    blocks = tl.cdiv(rows, step)
    units = blocks * strips
    first = tl.program_id(0) * units // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    all_ub = tl.alloc_ub(tile + lead, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    row_ub = tl.alloc_ub(tile, dtype=tl.int32)
    col_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    with tl.compute():
        tl.iota(col_ub, 0, step=4 * pitch, count=step)
        tl.iota(row_ub, 0, step=4 * stride, count=out_pitch)
        tl.broadcast_col(index_ub, col_ub, step, out_pitch, out_pitch)
        tl.vadd_row(index_ub, index_ub, row_ub, step, out_pitch, out_pitch)
        tl.vmin(index_ub, index_ub, 4 * (step * pitch - reach), count=step * out_pitch)
    for unit in range(first, last):
        col = unit % strips * wide
        row = unit // strips % blocks * step
        n = min(step, rows - row)
        left = max(0, col * stride - padding)
        m = min(width, col * stride - padding + (wide - 1) * stride + reach) - left
        with tl.copyin():
            tl.load_rows(x + row * width + left, x_ub, n, m, width, pitch, other=-math.inf)
        with tl.compute():
            tl.duplicate(all_ub, -math.inf)
            tl.vadd_scalar(all_ub + lead, x_ub, 0.0, count=n * pitch)
            base = 4 * (lead + col * stride - padding - left)
            tl.gather(y_ub, all_ub, index_ub, base, count=n * out_pitch)
            for k in range(1, kernel_size):
                tl.gather(part_ub, all_ub, index_ub, base + 4 * k * dilation, count=n * out_pitch)
                tl.vmax(y_ub, y_ub, part_ub, count=n * out_pitch)
        with tl.copyout():
            place = row * out_width + col
            tl.store_rows(y + place, y_ub, n, min(wide, out_width - col), out_width, out_pitch)


def max_pooling_1d_host(
    x: torch.Tensor,
    y: torch.Tensor,
    kernel_size: int,
    stride: int,
    padding: int,
    dilation: int,
    tile: tl.constexpr = 1536,
):
    if y.numel() == 0:
        return
    reach = dilation * (kernel_size - 1) + 1
    assert reach + 16 <= tile, "a window is wider than a tile"
    wide = min(y.shape[-1], (tile - 16 - reach) // stride + 1)
    step = tile // max(tl.pitch((wide - 1) * stride + reach), tl.pitch(wide))
    # So few rows that all cores have some.
    lines = y.numel() // y.shape[-1] * tl.cdiv(y.shape[-1], wide)
    step = min(step, tl.cdiv(lines, tl.num_vec_cores()))
    units = tl.cdiv(y.shape[0] * y.shape[1], step) * tl.cdiv(y.shape[-1], wide)
    cores = min(tl.num_vec_cores(), units)
    max_pooling_1d_kernel[cores](x, y, kernel_size, stride, padding, dilation, wide, step, tile)
