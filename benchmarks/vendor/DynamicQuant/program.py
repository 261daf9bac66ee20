import tile.language as tl


# Per row scale = max|x| / 127 and y = round(x / scale). Cores take whole rows, many at once where they are short.
@ascend_kernel
def dynamic_quant_kernel(x, y, scale, rows, cols, per_core, step, pitch, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.int8)
    most_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    factor_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    scale_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
        with tl.compute():
            tl.vabs(value_ub, x_ub, count=n * pitch)
            tl.row_max(most_ub, value_ub, n, cols, pitch)
            tl.duplicate(factor_ub, 127.0, count=n)
            tl.vdiv(factor_ub, factor_ub, most_ub, count=n)
            tl.vmul_scalar(scale_ub, most_ub, 1.0 / 127.0, count=n)
            tl.vmul_col(value_ub, x_ub, factor_ub, n, cols, pitch)
            tl.cast(y_ub, value_ub, count=n * pitch)
        with tl.copyout():
            tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
            tl.store(scale + row, scale_ub, count=n)


def dynamic_quant_host(x: torch.Tensor, y: torch.Tensor, scale: torch.Tensor, tile: tl.constexpr = 8224):
    rows = scale.numel()
    if x.numel() == 0:
        return
    cols = x.numel() // rows
    pitch = tl.cdiv(cols, 32) * 32
    assert pitch <= tile
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8))
    per_core = tl.cdiv(tl.cdiv(rows, cores), 8) * 8
    step = min(tile // pitch, per_core)
    dynamic_quant_kernel[cores](x, y, scale, rows, cols, per_core, step, pitch, tile)
