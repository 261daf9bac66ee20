import tile.language as tl


# y becomes (g - sum(y g)) y with g = grad values^T and the sum over a row. The cube cores leave g in the workspace; then the vector
# cores sum up strips of rows, and finish each strip when the sums of all are there.
@ascend_kernel
def inplace_fused_matmul_softmax_grad_kernel(
    y,
    grad,
    values,
    g,
    sums,
    rows,
    n,
    k,
    strip,
    strips,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    grad_l1 = tl.alloc_l1((tile_m, tile_k), dtype=grad.dtype)
    values_l1 = tl.alloc_l1((tile_n, tile_k), dtype=values.dtype)
    g_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(16, dtype=tl.float32)
    sums_ub = tl.alloc_ub(64, dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    for block in range(core, tl.cdiv(rows, tile_m) * across, cores):
        row = block // across * tile_m
        col = block % across * tile_n
        high = min(tile_m, rows - row)
        cols = min(tile_n, n - col)
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(grad + row * k + at, grad_l1, high, depth, k)
                tl.load_tile(values + col * k + at, values_l1, cols, depth, k)
            with tl.compute():
                tl.gemm(
                    g_l0,
                    grad_l1,
                    values_l1,
                    high,
                    cols,
                    depth,
                    init=at == 0,
                    transpose_b=True,
                )
        with tl.copyout():
            tl.store_tile(g + row * n + col, g_l0, high, cols, n)
    tl.sync_all()
    for unit in range(core, rows * strips, cores):
        start = unit // strips * n
        first = unit % strips * strip
        with tl.compute():
            tl.duplicate(sum_ub, 0.0, count=1)
        for at in range(first, min(first + strip, n), tile):
            count = min(tile, min(first + strip, n) - at)
            with tl.copyin():
                tl.load(g + start + at, g_ub, count=count)
                tl.load(y + start + at, y_ub, count=count)
            with tl.compute():
                tl.vmul(g_ub, g_ub, y_ub, count=count)
                tl.reduce_sum(part_ub, g_ub, work_ub, count=count)
                tl.vadd(sum_ub, sum_ub, part_ub, count=1)
        with tl.copyout():
            tl.store(sums + unit, sum_ub, count=1)
    tl.sync_all()
    for unit in range(core, rows * strips, cores):
        start = unit // strips * n
        first = unit % strips * strip
        with tl.copyin():
            tl.load(sums + unit // strips * strips, sums_ub, count=strips)
        with tl.compute():
            tl.reduce_sum(part_ub, sums_ub, work_ub, count=strips)
            sum = tl.extract_scalar(part_ub, 0)
        for at in range(first, min(first + strip, n), tile):
            count = min(tile, min(first + strip, n) - at)
            with tl.copyin():
                tl.load(g + start + at, g_ub, count=count)
                tl.load(y + start + at, y_ub, count=count)
            with tl.compute():
                tl.vsub_scalar(new_ub, g_ub, sum, count=count)
                tl.vmul(new_ub, new_ub, y_ub, count=count)
            with tl.copyout():
                tl.store(y + start + at, new_ub, count=count)


def inplace_fused_matmul_softmax_grad_host(
    softmaxOutput: torch.Tensor,
    gradOutput: torch.Tensor,
    values: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 64,
    tile_k: tl.constexpr = 256,
    tile: tl.constexpr = 4096,
):
    rows, n = softmaxOutput.shape
    k = gradOutput.shape[1]
    if rows * n * k == 0:
        return
    cores = tl.num_cube_cores()
    g = torch.empty(rows * n, dtype=tl.float32)
    # strips for 24 cores, on any chip: which sums are added up is the same for any number of cores
    strip = min(n, max(512, tl.pitch(tl.cdiv(n, max(1, 24 // rows)))))
    strips = tl.cdiv(n, strip)
    sums = torch.empty(rows * strips, dtype=tl.float32)
    inplace_fused_matmul_softmax_grad_kernel[cores](
        softmaxOutput,
        gradOutput,
        values,
        g,
        sums,
        rows,
        n,
        k,
        strip,
        strips,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
