import tile.language as tl


# d = a b + bias. The cube cores leave the product in the workspace; then the vector cores add the bias to rows of it.
@ascend_kernel
def matmul_bias_kernel(a, b, bias, d, product, m, n, k, tile_m, tile_n, tile_k, tile):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile, dtype=tl.float32)
    d_ub = tl.alloc_ub(tile, dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    for block in range(core, tl.cdiv(m, tile_m) * across, cores):
        row = block // across * tile_m
        col = block % across * tile_n
        rows = min(tile_m, m - row)
        cols = min(tile_n, n - col)
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
        with tl.copyout():
            tl.store_tile(product + row * n + col, c_l0, rows, cols, n)
    tl.sync_all()
    for line in range(core, m, cores):
        for first in range(0, n, tile):
            offsets = first + tl.arange(0, tile)
            with tl.copyin():
                tl.load(product + line * n + offsets, sum_ub, mask=offsets < n)
                tl.load(bias + offsets, bias_ub, mask=offsets < n)
            with tl.compute():
                tl.vadd(d_ub, sum_ub, bias_ub)
            with tl.copyout():
                tl.store(d + line * n + offsets, d_ub, mask=offsets < n)


def matmul_bias_host(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor,
    d: torch.Tensor,
    tile_m: tl.constexpr = 64,
    tile_n: tl.constexpr = 192,
    tile_k: tl.constexpr = 128,
    tile: tl.constexpr = 4096,
):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    product = torch.empty(m * n, dtype=tl.float32)
    matmul_bias_kernel[tl.num_cube_cores()](
        a,
        b,
        bias,
        d,
        product,
        m,
        n,
        k,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
