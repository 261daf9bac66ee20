import tile.language as tl


# x = x1 + x2, o = x * rsqrt(mean(x^2) + epsilon) * gamma, per row scale = max|o| / 127 and y = round(o / scale). Cores take whole
# rows; where some fit into a tile, they come at once.
@ascend_kernel
def add_rms_norm_dynamic_quant_kernel(x1, x2, gamma, y, x, scale, epsilon, rows, cols, per_core, step, pitch, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    o_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.int8)
    gamma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    rstd_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    most_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    scale_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    with tl.copyin():
        tl.load(gamma, gamma_ub, count=cols)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load_rows(x1 + row * cols, a_ub, n, cols, cols, pitch)
            tl.load_rows(x2 + row * cols, b_ub, n, cols, cols, pitch)
        with tl.compute():
            tl.vadd(x_ub, a_ub, b_ub, count=n * pitch)
        with tl.copyout():
            tl.store_rows(x + row * cols, x_ub, n, cols, cols, pitch)
        with tl.compute():
            tl.vmul(o_ub, x_ub, x_ub, count=n * pitch)
            tl.row_sum(part_ub, o_ub, n, cols, pitch)
            tl.vmul_scalar(rstd_ub, part_ub, 1.0 / cols, count=n)
            tl.vadd_scalar(rstd_ub, rstd_ub, epsilon, count=n)
            tl.vrsqrt(rstd_ub, rstd_ub, count=n)
            tl.vmul_row(x_ub, x_ub, gamma_ub, n, cols, pitch)
            tl.vabs(o_ub, x_ub, count=n * pitch)
            tl.row_max(most_ub, o_ub, n, cols, pitch)
            tl.duplicate(part_ub, 127.0, count=n)
            tl.vdiv(part_ub, part_ub, most_ub, count=n)
            tl.vmul_col(o_ub, x_ub, part_ub, n, cols, pitch)
            tl.cast(y_ub, o_ub, count=n * pitch)
            tl.vmul(scale_ub, most_ub, rstd_ub, count=n)
            tl.vmul_scalar(scale_ub, scale_ub, 1.0 / 127.0, count=n)
        with tl.copyout():
            tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
            tl.store(scale + row, scale_ub, count=n)


def add_rms_norm_dynamic_quant_host(
    x1: torch.Tensor,
    x2: torch.Tensor,
    gamma: torch.Tensor,
    y: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    epsilon=1e-6,
    tile: tl.constexpr = 4096,
):
    rows, cols = x1.shape
    if rows * cols == 0:
        return
    pitch = tl.cdiv(cols, 32) * 32
    assert pitch <= tile
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8))
    per_core = tl.cdiv(tl.cdiv(rows, cores), 8) * 8
    step = min(tile // pitch, per_core)
    add_rms_norm_dynamic_quant_kernel[cores](x1, x2, gamma, y, x, scale, epsilon, rows, cols, per_core, step, pitch, tile)
