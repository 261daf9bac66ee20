import tile.language as tl


# y = the mean of x under a window that moves over the last 3 dimensions; padding counts as zeros.
# The rows under a window are put together first, for many rows of y at once, with padding between
# them; then the columns, which come by index.
@ascend_kernel
def average_pooling_3d_kernel(x, y, kernel_size, stride, padding, wide, step, tile):
    depth, height, width = x.shape[2], x.shape[3], x.shape[4]
    images, out_depth = x.shape[0] * x.shape[1] * y.shape[2], y.shape[2]
    rows, out_width = y.shape[3], y.shape[4]
    reach = kernel_size
    pitch = tl.pitch((wide - 1) * stride + reach)
    out_pitch = tl.pitch(wide)
    lead = tl.pitch(padding)
    strips = tl.cdiv(out_width, wide)
    blocks = tl.cdiv(rows, step)
    units = images * blocks * strips
    first = tl.program_id(0) * units // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=3)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
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
        image = unit // (strips * blocks)
        with tl.compute():
            tl.duplicate(all_ub, 0.0)
        for k in range(kernel_size * kernel_size):
            plane = image % out_depth * stride - padding + k // kernel_size
            line = row * stride - padding + k % kernel_size
            top = max(0, tl.cdiv(-line, stride))
            high = min(n, (height - 1 - line) // stride + 1) - top
            if high > 0 and plane >= 0 and plane < depth:
                start = (image // out_depth * depth + plane) * height + line + top * stride
                at = start * width + left
                with tl.copyin():
                    tl.load_rows(x + at, x_ub, high, m, stride * width, pitch, other=0.0)
                with tl.compute():
                    under = lead + top * pitch
                    tl.vadd(all_ub + under, all_ub + under, x_ub, count=high * pitch)
        with tl.compute():
            base = 4 * (lead + col * stride - padding - left)
            tl.gather(y_ub, all_ub, index_ub, base, count=n * out_pitch)
            for k in range(1, kernel_size):
                tl.gather(part_ub, all_ub, index_ub, base + 4 * k, count=n * out_pitch)
                tl.vadd(y_ub, y_ub, part_ub, count=n * out_pitch)
            tl.vmul_scalar(y_ub, y_ub, 1.0 / kernel_size**3, count=n * out_pitch)
        with tl.copyout():
            place = (image * rows + row) * out_width + col
            tl.store_rows(y + place, y_ub, n, min(wide, out_width - col), out_width, out_pitch)


def average_pooling_3d_host(
    x: torch.Tensor,
    y: torch.Tensor,
    kernel_size: int,
    stride: int,
    padding: int,
    tile: tl.constexpr = 3072,
):
    if y.numel() == 0:
        return
    reach = kernel_size
    assert reach + 16 <= tile, "a window is wider than a tile"
    wide = min(y.shape[-1], (tile - 16 - reach) // stride + 1)
    step = tile // max(tl.pitch((wide - 1) * stride + reach), tl.pitch(wide))
    # So few rows that all cores have some.
    lines = y.numel() // y.shape[-1] * tl.cdiv(y.shape[-1], wide)
    step = min(step, tl.cdiv(lines, tl.num_vec_cores()))
    units = (
        y.numel() //
        (y.shape[-1] * y.shape[-2]) *
        tl.cdiv(y.shape[-2], step) *
        tl.cdiv(y.shape[-1], wide)
    )
    cores = min(tl.num_vec_cores(), units)
    average_pooling_3d_kernel[cores](x, y, kernel_size, stride, padding, wide, step, tile)
